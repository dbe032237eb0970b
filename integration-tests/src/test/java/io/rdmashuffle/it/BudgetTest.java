package io.rdmashuffle.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.harness.LocalCluster;
import io.rdmashuffle.harness.PluginTotals;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Memory for map outputs that does not suffice, or is not there at all. */
@Feature("Memory: what exceeds the budget goes to files")
@Tag("slow")
class BudgetTest {
  @Test
  void noMemoryMeansFilesAndRightResults() {
    try (LocalCluster cluster =
        PluginApp.start("budget-none", Map.of("spark.shuffle.rdma.memory.size", "0"))) {
      assertEquals(
          PluginApp.expected(cluster, 8, 500),
          PluginApp.digest(PluginApp.moved(cluster, 8, 8, 500)));
      PluginTotals totals = cluster.totals();
      assertEquals(cluster.metrics().remoteBytes(), totals.allBytes(), PluginApp.summary(totals));
      assertTrue(totals.allBytes() > 0, "nothing was read from the other executor");
    }
  }

  @Test
  @ExpectedWarnings(ExpectedWarnings.BUDGET_SPENT)
  void whatExceedsTheBudgetGoesToFiles() {
    Map<String, String> settings =
        Map.of("spark.shuffle.rdma.memory.size", "16m", "spark.shuffle.rdma.memory.slabSize", "4m");
    try (LocalCluster cluster = PluginApp.start("budget-small", settings)) {
      // Each of the map outputs is larger than the whole budget of its executor.
      assertEquals(
          PluginApp.expected(cluster, 4, 24_000),
          PluginApp.digest(PluginApp.moved(cluster, 4, 8, 24_000)));
      PluginTotals large = cluster.totals();
      assertEquals(cluster.metrics().remoteBytes(), large.allBytes(), PluginApp.summary(large));
      assertEquals(
          PluginApp.expected(cluster, 8, 1000),
          PluginApp.digest(PluginApp.moved(cluster, 8, 8, 1000)));
      PluginTotals small = cluster.totals().since(large);
      assertTrue(
          small.bytes("shm") > 0,
          () -> "a failed attempt must not keep the budget: " + PluginApp.summary(small));
    }
  }
}
