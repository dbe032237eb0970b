package io.rdmashuffle.it.features;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.harness.ClusterSpec;
import io.rdmashuffle.harness.Lineage;
import io.rdmashuffle.harness.LocalCluster;
import io.rdmashuffle.harness.PluginTotals;
import io.rdmashuffle.harness.ShuffleMode;
import io.rdmashuffle.it.ExpectedWarnings;
import io.rdmashuffle.it.Feature;
import io.rdmashuffle.it.PluginApp;
import io.rdmashuffle.jobs.ResultDigest;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.spark.api.java.JavaPairRDD;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Hosts that die, and executors that die while their host's shuffle service lives on. */
@Tag("slow")
@ExpectedWarnings(ExpectedWarnings.LOST_EXECUTOR)
class LostHostTest {
  private static final int MAPS = 6;
  private static final int REDUCERS = 6;
  private static final int ROWS = 500;

  @Test
  @Feature("Recovery: lost host")
  void whatALostHostHeldIsComputedAgain(@TempDir Path directory) {
    try (StandaloneCluster hosts = StandaloneCluster.ofTwoHosts(directory);
        LocalCluster cluster =
            hosts.application(
                ClusterSpec.forTests("lost-host", ShuffleMode.PLUGIN),
                Map.of("spark.shuffle.io.maxRetries", "1", "spark.shuffle.io.retryWait", "1s"))) {
      ResultDigest expected = PluginApp.expected(cluster, MAPS, ROWS);
      JavaPairRDD<Integer, byte[]> moved = PluginApp.moved(cluster, MAPS, REDUCERS, ROWS);
      assertEquals(expected, PluginApp.digest(moved));
      hosts.loseSecondHost();
      assertEquals(expected, PluginApp.digest(moved));
    }
  }

  @Test
  @Feature("External shuffle service: outputs outlive their executors")
  void theShuffleServiceServesWhatAnExecutorLeft(@TempDir Path directory) {
    String port = "7447";
    Map<String, String> settings =
        Map.of("spark.shuffle.service.enabled", "true", "spark.shuffle.service.port", port);
    try (StandaloneCluster hosts = StandaloneCluster.withShuffleService(directory, port);
        LocalCluster cluster =
            hosts.application(
                ClusterSpec.forTests("shuffle-service", ShuffleMode.PLUGIN), settings)) {
      ResultDigest expected = PluginApp.expected(cluster, MAPS, ROWS);
      JavaPairRDD<Integer, byte[]> moved = PluginApp.moved(cluster, MAPS, REDUCERS, ROWS);
      assertEquals(expected, PluginApp.digest(moved));
      PluginTotals read = cluster.totals();
      assertTrue(read.bytes("shm") > 0, () -> PluginApp.summary(read));
      int shuffleId = Lineage.shuffleOf(moved.rdd());
      Map<Long, String> before = MapOutputs.executors(shuffleId);
      awaitFiles(cluster);
      hosts.killAnExecutor();
      cluster.awaitExecutors(2);
      try (TaskEvents events = TaskEvents.attach(cluster)) {
        assertEquals(expected, PluginApp.digest(moved));
        assertEquals(List.of(), events.settle().fetchFailures());
      }
      assertEquals(before, MapOutputs.executors(shuffleId), "map outputs were computed again");
    }
  }

  /** They are written behind. */
  private static void awaitFiles(LocalCluster cluster) {
    Decommission.await(
        "map outputs are not in files",
        () -> {
          PluginApp.digest(PluginApp.moved(cluster, 1, 2, 1));
          return cluster.totals().gauges().getOrDefault("writeBehindBytes", 0L) == 0;
        });
  }
}
