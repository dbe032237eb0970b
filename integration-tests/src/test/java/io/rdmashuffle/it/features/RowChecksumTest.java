package io.rdmashuffle.it.features;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rdmashuffle.harness.LocalCluster;
import io.rdmashuffle.it.Feature;
import io.rdmashuffle.it.PluginApp;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.spark.scheduler.MapStatus;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Checksums of rows by which Spark tells whether a map task that ran twice did the same. */
@Tag("slow")
class RowChecksumTest {
  private static final Map<String, String> SETTINGS =
      Map.of(
          "spark.sql.shuffle.orderIndependentChecksum.enabled", "true",
          "spark.sql.shuffle.orderIndependentChecksum.enableFullRetryOnMismatch", "true",
          "spark.sql.adaptive.enabled", "false",
          // Shuffles are looked at when their queries are over.
          "spark.cleaner.referenceTracking", "false");

  @Test
  @Feature("Checksums: order-independent ones of rows (from Spark 4.1 on)")
  void mapStatusesCarryTheChecksumsThatTheSortShuffleComputes() {
    assumeTrue(isKnown(), "Spark before 4.1 has no checksums of rows");
    List<Long> expected = Reference.inLocalMode(SETTINGS, RowChecksumTest::checksums);
    assertFalse(expected.contains(0L), expected::toString);
    try (LocalCluster cluster = PluginApp.start("row-checksums", SETTINGS)) {
      assertEquals(expected, checksums(cluster));
    }
  }

  /** Of all map outputs of shuffles between two ids, in order. */
  private static List<Long> checksums(int afterShuffle, int beforeShuffle) {
    return IntStream.range(afterShuffle + 1, beforeShuffle)
        .boxed()
        .flatMap(shuffleId -> Stream.of(MapOutputs.statuses(shuffleId)))
        .map(MapStatus::checksumValue)
        .toList();
  }

  private static boolean isKnown() {
    return Stream.of(MapStatus.class.getMethods())
        .anyMatch(method -> method.getName().equals("checksumValue"));
  }

  /** Of the map outputs of shuffles with many partitions and with few. */
  private static List<Long> checksums(LocalCluster cluster) {
    SparkSession spark = cluster.spark();
    int firstShuffle = MapOutputs.nextShuffle(cluster);
    for (String partitions : List.of("300", "5")) {
      spark.conf().set("spark.sql.shuffle.partitions", partitions);
      spark.range(0, 5_000, 1, 4).selectExpr("id % 100 AS k", "id").groupBy("k").count().collect();
      spark.range(0, 5_000, 1, 4).selectExpr("id % 7 AS k", "id").orderBy("k", "id").collect();
    }
    return checksums(firstShuffle, MapOutputs.nextShuffle(cluster));
  }
}
