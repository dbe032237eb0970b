package io.rdmashuffle.jobs;

import java.nio.charset.StandardCharsets;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.functions;

/** A join where most rows of the large side share one key, so that one reducer reads most of it. */
public final class SkewedJoin implements Job {
  private static final long serialVersionUID = 1;
  private static final int PARTITIONS = 16;
  private static final long ROWS_PER_LOAD = 3_000_000;
  private static final long KEYS = 100_000;

  @Override
  public String name() {
    return "skewedjoin";
  }

  @Override
  public String describe(JobInput input) {
    return "join of %,d rows, 60 %% of them with one key".formatted(rows(input));
  }

  @Override
  public ResultDigest run(SparkSession spark, JobInput input) {
    spark.conf().set("spark.sql.shuffle.partitions", Integer.toString(PARTITIONS));
    spark.conf().set("spark.sql.autoBroadcastJoinThreshold", "-1");
    Dataset<Row> large =
        spark
            .range(0, rows(input), 1, PARTITIONS)
            .withColumn(
                "key",
                functions.expr("IF(id %% 10 < 6, 7, pmod(xxhash64(id), %d))".formatted(KEYS)))
            .withColumn("payload", functions.expr("concat(hex(xxhash64(id)), hex(id * 31))"));
    Dataset<Row> small =
        spark
            .range(0, KEYS, 1, PARTITIONS)
            .select(functions.col("id").as("key"), functions.expr("id * 17 % 1001").as("weight"));
    Dataset<Row> result =
        large
            .join(small.hint("shuffle_merge"), "key")
            .groupBy(functions.expr("pmod(xxhash64(payload), 1000)").as("bucket"))
            .agg(functions.sum("weight"), functions.count("*"));
    return Digests.multiset(
        result.toJavaRDD(), row -> row.toString().getBytes(StandardCharsets.UTF_8));
  }

  private static long rows(JobInput input) {
    return (long) (ROWS_PER_LOAD * input.load());
  }
}
