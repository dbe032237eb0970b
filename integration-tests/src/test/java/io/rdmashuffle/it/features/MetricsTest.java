package io.rdmashuffle.it.features;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.harness.LocalCluster;
import io.rdmashuffle.harness.ShuffleMetrics;
import io.rdmashuffle.it.Feature;
import io.rdmashuffle.it.PluginApp;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What Spark's UI shows of a shuffle is what it would show with the sort shuffle. */
@Tag("slow")
class MetricsTest {
  /** Makes the sort shuffle's writers and the readers' sorters spill. */
  private static final Map<String, String> SETTINGS =
      Map.of("spark.shuffle.spill.numElementsForceSpillThreshold", "1500");

  private static final int MAPS = 4;
  private static final int REDUCERS = 4;
  private static final int ROWS = 2_000;

  @Test
  @Feature("Metrics: bytes, blocks, records, times and spills")
  void countersAreWhatTheSortShuffleReports() {
    ShuffleMetrics sort = Reference.onCluster(SETTINGS, MetricsTest::measure);
    try (LocalCluster cluster = PluginApp.start("metrics", SETTINGS)) {
      ShuffleMetrics plugin = measure(cluster);
      assertAll(
          () -> assertEquals(sort.writtenRecords(), plugin.writtenRecords(), "records written"),
          () -> assertEquals(blocks(sort), blocks(plugin), "blocks read"),
          () -> assertNear("bytes written", sort.writtenBytes(), plugin.writtenBytes()),
          () -> assertNear("bytes read", bytes(sort), bytes(plugin)),
          () -> assertTrue(plugin.remoteBytes() > 0, "remote bytes"),
          () -> assertTrue(plugin.localBytes() > 0, "local bytes"),
          () -> assertTrue(plugin.writeNanos() > 0, "write time"),
          () -> assertTrue(plugin.fetchWaitMillis() >= 0, "fetch wait"),
          () -> assertTrue(sort.spilledToDisk() > 0, "the sort shuffle spills"),
          () -> assertTrue(plugin.spilledToDisk() > 0, "bytes spilled"));
      assertStagesShow(cluster, plugin);
    }
  }

  private static ShuffleMetrics measure(LocalCluster cluster) {
    ShuffleMetrics before = cluster.metrics();
    PluginApp.digest(PluginApp.moved(cluster, MAPS, REDUCERS, ROWS).sortByKey(true, REDUCERS));
    return cluster.metrics().minus(before);
  }

  private static long blocks(ShuffleMetrics metrics) {
    return metrics.localBlocks() + metrics.remoteBlocks();
  }

  private static long bytes(ShuffleMetrics metrics) {
    return metrics.localBytes() + metrics.remoteBytes();
  }

  /** Compressed sizes differ a little with where a writer flushes. */
  private static void assertNear(String what, long expected, long found) {
    assertTrue(
        Math.abs(found - expected) <= expected / 50,
        () -> what + ": " + found + ", the sort shuffle has " + expected);
  }

  /** The pages of the UI are made from this store. */
  private static void assertStagesShow(LocalCluster cluster, ShuffleMetrics metrics) {
    long written = 0;
    long read = 0;
    for (int stage : List.copyOf(StageIds.ofAllJobs(cluster))) {
      var data = cluster.context().statusStore().lastStageAttempt(stage);
      written += data.shuffleWriteBytes();
      read += data.shuffleReadBytes();
    }
    assertEquals(metrics.writtenBytes(), written, "bytes written, as the UI shows them");
    assertEquals(bytes(metrics), read, "bytes read, as the UI shows them");
  }
}
