package io.rdmashuffle.it.features;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.harness.Lineage;
import io.rdmashuffle.harness.LocalCluster;
import io.rdmashuffle.harness.PluginTotals;
import io.rdmashuffle.harness.ShuffleMetrics;
import io.rdmashuffle.it.Feature;
import io.rdmashuffle.it.PluginApp;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.spark.HashPartitioner;
import org.apache.spark.api.java.JavaPairRDD;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import scala.Tuple2;

/** Numbers of partitions and blocks, and the limits that Spark's settings set to fetching them. */
@Tag("slow")
class LimitsTest {
  /** Large blocks go to files, and everything is fetched one after the other. */
  private static final Map<String, String> SETTINGS =
      Map.of(
          "spark.network.maxRemoteBlockSizeFetchToMem", "64k",
          "spark.reducer.maxReqsInFlight", "1",
          "spark.reducer.maxBlocksInFlightPerAddress", "100",
          "spark.shuffle.useOldFetchProtocol", "true",
          "spark.serializer", "org.apache.spark.serializer.KryoSerializer");

  private static final Map<String, String> KRYO =
      Map.of("spark.serializer", "org.apache.spark.serializer.KryoSerializer");

  private static final int BLOCKS = 1_000_000;

  /** Maps, and partitions, of which some get nothing. */
  private static final int SIDE = 1_020;

  private static final int SERIALIZED_LIMIT = 1 << 24;

  private static List<String> expectedHandles;
  private static LocalCluster cluster;

  @BeforeAll
  static void start() {
    expectedHandles = Reference.inLocalMode(KRYO, LimitsTest::handles);
    cluster = PluginApp.start("limits", SETTINGS);
  }

  @AfterAll
  static void stop() {
    if (cluster != null) {
      cluster.close();
    }
  }

  @Test
  @Feature({
    "Sizes: spark.network.maxRemoteBlockSizeFetchToMem",
    "Sizes: spark.reducer.maxReqsInFlight",
    "Sizes: spark.reducer.maxBlocksInFlightPerAddress"
  })
  void blocksThatSparkWantsInFilesAreReadOneSidedToo() {
    PluginTotals before = cluster.totals();
    ShuffleMetrics metricsBefore = cluster.metrics();
    // Blocks of 250 KB.
    assertEquals(
        PluginApp.expected(cluster, 8, 1_000),
        PluginApp.digest(PluginApp.moved(cluster, 8, 4, 1_000)));
    PluginTotals read = cluster.totals().since(before);
    long remote = cluster.metrics().minus(metricsBefore).remoteBytes();
    assertTrue(remote > 64 << 10, "nothing was read from the other executor");
    assertEquals(remote, read.oneSidedBytes(), () -> PluginApp.summary(read));
  }

  @Test
  @Feature("Sizes: empty blocks")
  void emptyBlocksAreNotFetched() {
    long before = blocks();
    List<Integer> found =
        cluster
            .java()
            .parallelize(IntStream.range(0, 20).boxed().toList(), 20)
            .mapToPair(i -> new Tuple2<>(i % 2, i))
            .partitionBy(new HashPartitioner(50))
            .values()
            .collect();
    assertEquals(20, found.size());
    assertEquals(20, blocks() - before, "one for each record");
  }

  @Test
  @Feature("Sizes: a million blocks to one reducer")
  void oneReducerReadsAMillionBlocks() {
    var spark = cluster.spark();
    spark.conf().set("spark.sql.adaptive.enabled", "true");
    spark.conf().set("spark.sql.adaptive.coalescePartitions.parallelismFirst", "false");
    spark.conf().set("spark.sql.adaptive.advisoryPartitionSizeInBytes", "1g");
    spark.conf().set("spark.sql.shuffle.partitions", Integer.toString(SIDE));
    long before = blocks();
    // Each map task has records for every partition, and all partitions go to one task.
    long records = (long) SIDE * SIDE * 8;
    var result =
        spark
            .range(0, records, 1, SIDE)
            .selectExpr("pmod(xxhash64(id), " + 4 * SIDE + ") AS k", "id")
            .groupBy("k")
            .sum("id")
            .selectExpr("`sum(id)` AS sum", "spark_partition_id() AS task")
            .selectExpr("sum(sum)", "max(task)")
            .collectAsList();
    assertEquals(records * (records - 1) / 2, result.get(0).getLong(0));
    assertEquals(0, result.get(0).getInt(1), "the last task that read them");
    long blocks = blocks() - before;
    assertTrue(blocks >= BLOCKS, () -> "only " + blocks);
  }

  @Test
  @Feature("Sizes: 16,777,216 partitions")
  void writersForMillionsOfPartitionsAreChosenAsTheSortShuffleChooses() {
    assertEquals(expectedHandles, handles(cluster));
  }

  /** How Spark registers shuffles of so many partitions with a serializer that allows sorting. */
  private static List<String> handles(LocalCluster cluster) {
    return IntStream.of(SERIALIZED_LIMIT, SERIALIZED_LIMIT + 1, 300, 20)
        .mapToObj(count -> handle(cluster, count))
        .toList();
  }

  private static String handle(LocalCluster cluster, int partitions) {
    JavaPairRDD<Integer, Integer> moved =
        cluster
            .java()
            .parallelize(List.of(1), 1)
            .mapToPair(i -> new Tuple2<>(i, i))
            .partitionBy(new HashPartitioner(partitions));
    return Lineage.shuffle(moved.rdd()).shuffleHandle().getClass().getSimpleName();
  }

  private static long blocks() {
    ShuffleMetrics metrics = cluster.metrics();
    return metrics.localBlocks() + metrics.remoteBlocks();
  }
}
