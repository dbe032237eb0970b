package io.rdmashuffle.it.tiers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.harness.LocalCluster;
import io.rdmashuffle.harness.PluginTotals;
import io.rdmashuffle.it.ExpectedWarnings;
import io.rdmashuffle.it.PluginApp;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import scala.Tuple2;

/** How many files, and how much in them, shuffle writes leave for how large a budget. */
@Tag("slow")
class FilesWrittenTest {
  private static final int MAPS = 8;
  private static final int ROWS = 2000;

  /** As many partitions as Spark writes by way of one file each. */
  private static final int BYPASS_PARTITIONS = 10;

  /** One job for each way in which Spark's sort shuffle writes. */
  private static final Map<String, Consumer<LocalCluster>> KINDS =
      Map.of(
          "serialized", cluster -> move(cluster, 3 * BYPASS_PARTITIONS),
          "bypass", cluster -> move(cluster, BYPASS_PARTITIONS),
          "aggregating", FilesWrittenTest::aggregate);

  private static void move(LocalCluster cluster, int reducers) {
    assertEquals(
        PluginApp.expected(cluster, MAPS, ROWS),
        PluginApp.digest(PluginApp.moved(cluster, MAPS, reducers, ROWS)));
  }

  private static void aggregate(LocalCluster cluster) {
    int keys = 20_000;
    List<Long> counts =
        cluster
            .java()
            .parallelize(IntStream.range(0, 10 * keys).boxed().toList(), MAPS)
            .mapToPair(i -> new Tuple2<>(i % keys, 1L))
            .reduceByKey(Long::sum, 3 * BYPASS_PARTITIONS)
            .values()
            .collect();
    assertEquals(LongStream.generate(() -> 10L).limit(keys).boxed().toList(), counts);
  }

  private static LocalCluster start(String name, Map<String, String> more) {
    Map<String, String> settings = new HashMap<>(LocalFiles.SETTINGS);
    // Spark would delete the files of shuffles that the test has done with.
    settings.put("spark.cleaner.referenceTracking", "false");
    settings.put("spark.serializer", "org.apache.spark.serializer.KryoSerializer");
    settings.put("spark.shuffle.sort.bypassMergeThreshold", Integer.toString(BYPASS_PARTITIONS));
    settings.putAll(more);
    return PluginApp.start(name, settings);
  }

  @Test
  void withBudgetEnoughNoWriteOfAnyKindTouchesAFile() throws Exception {
    try (LocalCluster cluster = start("tiers-no-files", Map.of());
        LocalFiles files = new LocalFiles(cluster)) {
      for (Map.Entry<String, Consumer<LocalCluster>> kind : KINDS.entrySet()) {
        kind.getValue().accept(cluster);
        assertEquals(List.of(), files.created(), kind.getKey());
      }
      assertEquals(0, files.bytes(""));
      PluginTotals totals = cluster.totals();
      assertEquals(0, totals.gauges().get("fileOutputBytes"));
      assertTrue(totals.oneSidedBytes() > 0, () -> PluginApp.summary(totals));
    }
  }

  @Test
  void onDiskEveryKindOfWriteIsCounted() throws Exception {
    try (LocalCluster cluster =
            start("tiers-disk", Map.of("spark.shuffle.rdma.durability", "disk"));
        LocalFiles files = new LocalFiles(cluster)) {
      for (Map.Entry<String, Consumer<LocalCluster>> kind : KINDS.entrySet()) {
        kind.getValue().accept(cluster);
        List<String> created = files.created();
        assertEquals(
            MAPS,
            created.stream().filter(name -> name.matches("shuffle_.*\\.data\\..*")).count(),
            () -> kind.getKey() + ": " + created);
      }
      PluginTotals totals = cluster.totals();
      assertEquals(0, totals.gauges().get("slabBytes"), "map outputs take no memory");
      assertEquals(cluster.metrics().writtenBytes(), totals.gauges().get("fileOutputBytes"));
      assertEquals(cluster.metrics().writtenBytes(), files.bytes(".data"));
      assertEquals(cluster.metrics().remoteBytes(), totals.bytes("shm"));
      assertTrue(totals.bytes("shm") > 0, () -> PluginApp.summary(totals));
    }
  }

  @Test
  @ExpectedWarnings(ExpectedWarnings.BUDGET_SPENT)
  void withATenthOfTheBudgetNoMoreThanTheRestIsInFiles() throws Exception {
    int maps = 60;
    int rows = 1000;
    // 60 MB in all, and 6 MB of budget in two executors.
    Map<String, String> budget =
        Map.of("spark.shuffle.rdma.memory.size", "3m", "spark.shuffle.rdma.memory.slabSize", "1m");
    try (LocalCluster cluster = start("tiers-tenth", budget);
        LocalFiles files = new LocalFiles(cluster)) {
      assertEquals(
          PluginApp.expected(cluster, maps, rows),
          PluginApp.digest(PluginApp.moved(cluster, maps, 8, rows)));
      PluginTotals totals = cluster.totals();
      long written = cluster.metrics().writtenBytes();
      long inMemory = totals.gauges().get("memoryOutputBytes");
      long inFiles = totals.gauges().get("fileOutputBytes");
      assertEquals(written, inMemory + inFiles);
      assertEquals(inFiles, files.bytes(".data"));
      assertTrue(inMemory >= 2 * written / maps, "at least an output each: " + inMemory);
      assertTrue(totals.gauges().get("slabBytes") <= 6 << 20, () -> totals.gauges().toString());
      assertEquals(
          maps, totals.gauges().get("memoryOutputs") + totals.gauges().get("outputsBeyondBudget"));
      assertEquals(0, totals.gauges().get("outputsMoved"), "those in memory stay there");
      assertTrue(totals.bytes("shm") > 0, () -> PluginApp.summary(totals));
      assertEquals(cluster.metrics().remoteBytes(), totals.bytes("shm"));
      assertEquals(0, cluster.metrics().failedTasks());
    }
  }
}
