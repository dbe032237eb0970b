package io.rdmashuffle.it.reliability;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.harness.ExecutorGauges;
import io.rdmashuffle.harness.LocalCluster;
import io.rdmashuffle.it.PluginApp;
import java.util.Map;
import org.apache.spark.api.java.JavaPairRDD;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Spark gives up an executor's block manager after a failed fetch, until its next heartbeat, and
 * tells it nothing meanwhile: not that a shuffle is gone either.
 */
@Tag("slow")
class ForgottenExecutorTest {
  private static final int TASKS = 4;

  @Test
  void whatItHoldsOfADroppedShuffleIsFreedAllTheSame() {
    Map<String, String> settings =
        Map.of("spark.executor.heartbeatInterval", "90s", "spark.network.timeout", "300s");
    try (LocalCluster cluster = PluginApp.start("forgotten", settings)) {
      JavaPairRDD<Integer, byte[]> moved = PluginApp.moved(cluster, TASKS, TASKS, 100);
      assertEquals(PluginApp.expected(cluster, TASKS, 100), PluginApp.digest(moved));
      Map<String, Map<String, Long>> held = ExecutorGauges.of(cluster);
      held.forEach((id, gauges) -> assertTrue(gauges.get("memoryOutputs") > 0, id));

      held.keySet()
          .forEach(id -> cluster.context().env().blockManager().master().removeExecutor(id));
      moved.rdd().cleanShuffleDependencies(true);
      ExecutorGauges.of(cluster)
          .forEach((id, gauges) -> assertTrue(gauges.get("memoryOutputs") > 0, id));

      ExecutorGauges.awaitNothingLent(cluster);
    }
  }
}
