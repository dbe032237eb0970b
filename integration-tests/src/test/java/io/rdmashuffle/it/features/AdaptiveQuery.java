package io.rdmashuffle.it.features;

import io.rdmashuffle.harness.LocalCluster;
import io.rdmashuffle.harness.ShuffleMetrics;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/**
 * A query for which adaptive execution changes how its shuffles are read.
 *
 * @param mark what the final plan says when it has done so
 */
record AdaptiveQuery(String name, Map<String, String> settings, String sql, String mark) {
  private static final Map<String, String> DEFAULTS =
      Map.of(
          "spark.sql.adaptive.enabled", "true",
          "spark.sql.autoBroadcastJoinThreshold", "-1",
          "spark.sql.adaptive.autoBroadcastJoinThreshold", "-1",
          "spark.sql.adaptive.advisoryPartitionSizeInBytes", "64m",
          "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes", "256m",
          "spark.sql.shuffle.partitions", "40");

  /** Small partitions become fewer, each of which is a run of adjacent ones. */
  static final AdaptiveQuery COALESCED =
      new AdaptiveQuery(
          "coalesced partitions",
          Map.of("spark.sql.adaptive.coalescePartitions.parallelismFirst", "false"),
          "SELECT k, count(*), sum(v), max(s) FROM facts GROUP BY k",
          "coalesced");

  /** A partition that is far larger than others is split by ranges of map outputs. */
  static final AdaptiveQuery SKEWED =
      new AdaptiveQuery(
          "skewed partitions",
          Map.of(
              "spark.sql.shuffle.partitions", "8",
              "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes", "64k",
              "spark.sql.adaptive.advisoryPartitionSizeInBytes", "64k"),
          "SELECT /*+ MERGE(d) */ f.s, f.v, d.name FROM facts f JOIN dimension d"
              + " ON IF(f.v % 10 < 7, 1, f.k) = d.k",
          "skewed");

  /** A join whose one side turns out small reads the other side's map outputs where they are. */
  static final AdaptiveQuery LOCAL =
      new AdaptiveQuery(
          "local shuffle reader",
          Map.of("spark.sql.adaptive.autoBroadcastJoinThreshold", "1m"),
          "SELECT f.k, count(*), sum(f.v) FROM facts f JOIN"
              + " (SELECT k FROM dimension WHERE length(name) = 6) d ON f.k = d.k GROUP BY f.k",
          "local");

  static final List<AdaptiveQuery> ALL = List.of(COALESCED, SKEWED, LOCAL);

  /**
   * What running it gave.
   *
   * @param blocks shuffle blocks its tasks fetched, local and remote ones
   */
  record Outcome(List<String> rows, String plan, long blocks) {}

  Outcome run(LocalCluster cluster) {
    SparkSession spark = cluster.spark();
    DEFAULTS.forEach(spark.conf()::set);
    settings.forEach(spark.conf()::set);
    tables(spark);
    long before = blocks(cluster.metrics());
    Dataset<Row> result = spark.sql(sql);
    List<String> rows = result.collectAsList().stream().map(Row::toString).sorted().toList();
    long after = blocks(cluster.metrics());
    return new Outcome(rows, result.queryExecution().executedPlan().toString(), after - before);
  }

  /** What a line of its final plan looks like. */
  String planPattern() {
    return ".*AQEShuffleRead .*\\b" + mark + "\\b.*";
  }

  private static void tables(SparkSession spark) {
    spark
        .range(0, 40_000, 1, 6)
        .selectExpr(
            "pmod(xxhash64(id), 500) AS k", "id AS v", "concat('s-', hex(xxhash64(id, 1))) AS s")
        .createOrReplaceTempView("facts");
    spark
        .range(0, 500, 1, 3)
        .selectExpr("id AS k", "concat('name-', id) AS name")
        .createOrReplaceTempView("dimension");
  }

  private static long blocks(ShuffleMetrics metrics) {
    return metrics.localBlocks() + metrics.remoteBlocks();
  }

  @Override
  public String toString() {
    return name;
  }
}
