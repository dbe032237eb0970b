package io.rdmashuffle.it.rxe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.harness.LocalCluster;
import io.rdmashuffle.harness.PluginTotals;
import io.rdmashuffle.it.ExpectedWarnings;
import io.rdmashuffle.it.PluginApp;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Map outputs in files alone, read over RDMA where the kernel lets a device have them. */
@Tag("rxe")
@Timeout(600)
@ExpectedWarnings("Transport rdma refused to register ")
class FilesOverRdmaTest {
  private static final int TASKS = 4;
  private static final int ROWS = 500;

  /** The first that registers a mapping of a file that is not writable. */
  private static final double FIRST_KERNEL = 6.02;

  @Test
  void outputsInFilesAreReadOneSidedOrByTcpWithTheReason() {
    LocalCluster cluster =
        RxeApp.start("rdma-files", 2, Map.of("spark.shuffle.rdma.durability", "disk"));
    try (cluster) {
      assertEquals(
          PluginApp.expected(cluster, TASKS, ROWS),
          PluginApp.digest(PluginApp.moved(cluster, TASKS, TASKS, ROWS)));
      PluginTotals totals = cluster.totals();
      System.out.println(PluginApp.summary(totals));
      long remote = cluster.metrics().remoteBytes();
      assertTrue(remote > 0, "remote bytes");
      if (kernel() >= FIRST_KERNEL) {
        assertEquals(remote, totals.bytes("rdma"), () -> PluginApp.summary(totals));
        assertEquals(Map.of(), totals.fallbacks());
        assertTrue(totals.gauges().get("mappedRegions") > 0, () -> totals.gauges().toString());
      } else {
        assertEquals(remote, totals.bytes("tcp"), () -> PluginApp.summary(totals));
        assertEquals(Set.of("FILE_TIER"), totals.fallbacks().keySet());
      }
      RxeApp.stopAndFindNothingLeft(cluster);
    }
  }

  /** The version as one number, such as 6.01 or 6.12. */
  private static double kernel() {
    String[] parts = System.getProperty("os.version").split("[^0-9]+", 3);
    return Integer.parseInt(parts[0]) + Integer.parseInt(parts[1]) / 100.0;
  }
}
