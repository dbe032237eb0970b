package io.rdmashuffle.it.tiers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.harness.LocalCluster;
import io.rdmashuffle.harness.PluginTotals;
import io.rdmashuffle.it.ExpectedWarnings;
import io.rdmashuffle.it.PluginApp;
import io.rdmashuffle.jobs.ResultDigest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.spark.api.java.JavaPairRDD;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Outputs of finished stages give way to new ones, and are read all the same. */
@Tag("slow")
class ColdOutputsTest {
  private static final int MAPS = 12;
  private static final int ROWS = 1000;

  private static final int JOBS = 4;

  // One shuffle of 12 MB fits each of the two executors, all four do not fit both; memory that
  // comes free is used again soon.
  private static final Map<String, String> SETTINGS =
      Map.of(
          "spark.shuffle.rdma.memory.size", "13m",
          "spark.shuffle.rdma.memory.slabSize", "1m",
          "spark.shuffle.rdma.memory.quarantine", "1100ms",
          "spark.shuffle.rdma.read.timeout", "1s");

  @Test
  @ExpectedWarnings({ExpectedWarnings.BUDGET_SPENT, "go by TCP: STALE "})
  void whatEarlierJobsLeftMakesRoomForTheNext() throws Exception {
    try (LocalCluster cluster = PluginApp.start("tiers-cold", SETTINGS)) {
      ResultDigest expected = PluginApp.expected(cluster, MAPS, ROWS);
      List<JavaPairRDD<Integer, byte[]>> shuffles = new ArrayList<>();
      for (int i = 0; i < JOBS; i++) {
        shuffles.add(PluginApp.moved(cluster, MAPS, 6, ROWS));
        assertEquals(expected, PluginApp.digest(shuffles.get(i)));
        if (i == 0) {
          assertEquals(0, cluster.totals().gauges().get("fileOutputs"), "the first fits");
        }
        TimeUnit.SECONDS.sleep(2); // moves end, and so do quarantines
      }
      PluginTotals before = cluster.totals();
      long written = cluster.metrics().writtenBytes();

      for (JavaPairRDD<Integer, byte[]> shuffle : shuffles) {
        assertEquals(expected, PluginApp.digest(shuffle));
      }
      assertEquals(written, cluster.metrics().writtenBytes(), "no map task ran again");
      PluginTotals after = cluster.totals();
      assertTrue(after.gauges().get("outputsMoved") > 0, () -> gauges(after));
      assertEquals(JOBS * MAPS, outputs(after), () -> gauges(after));
      assertTrue(after.gauges().get("mappedOutputs") > 0, () -> gauges(after));
      PluginTotals again = after.since(before);
      // Readers that knew where an output was in memory find that it is there no more.
      assertTrue(
          again.fallbacks().keySet().stream().allMatch("STALE"::equals),
          () -> PluginApp.summary(again));
      assertTrue(again.bytes("shm") > 0, () -> PluginApp.summary(again));
      assertEquals(0, cluster.metrics().failedTasks());
      assertEquals(cluster.metrics().remoteBytes(), after.allBytes());
    }
  }

  private static long outputs(PluginTotals totals) {
    return totals.gauges().get("memoryOutputs") + totals.gauges().get("fileOutputs");
  }

  private static String gauges(PluginTotals totals) {
    return totals.gauges().toString();
  }
}
