package io.rdmashuffle.it.tiers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.OperatingSystemMXBean;
import io.rdmashuffle.harness.LocalCluster;
import io.rdmashuffle.it.ExpectedWarnings;
import io.rdmashuffle.it.PluginApp;
import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.Map;
import org.apache.spark.SparkException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A budget that cannot be had: nothing starts, or nothing goes on, and the arithmetic is told. */
@Tag("slow")
class RefusedBudgetTest {
  private static final String KEY = "spark.shuffle.rdma.memory.size";

  @Test
  void theDriverRefusesWhatThisMachineCannotGive() {
    Throwable failure =
        assertThrows(
            Exception.class, () -> PluginApp.start("tiers-refused", Map.of(KEY, "15t")).close());
    while (failure.getCause() != null) {
      failure = failure.getCause();
    }
    String message = failure.getMessage();
    assertTrue(message.contains(KEY + " is 15728640 MiB"), message);
    assertTrue(message.contains("leaves"), message);
  }

  @Test
  @ExpectedWarnings("This executor writes and reads no shuffle: ")
  void whatOnlyExecutorsCanTellEndsTheJobAndStartsNoMoreExecutors() {
    // A heap that leaves nothing of the host's memory; the driver reckons with the 1 GiB of
    // spark.executor.memory.
    long hostGib = hostBytes() >> 30;
    Map<String, String> settings = new HashMap<>();
    settings.put(KEY, "128m");
    settings.put("spark.executorEnv._JAVA_OPTIONS", "-Xmx" + (hostGib + 1) + "g");
    try (LocalCluster cluster = PluginApp.start("tiers-refused-late", settings)) {
      SparkException failure =
          assertThrows(
              SparkException.class, () -> PluginApp.digest(PluginApp.moved(cluster, 2, 2, 10)));
      assertTrue(failure.getMessage().contains(KEY + " is 128 MiB"), failure::getMessage);
      assertEquals(2, cluster.executors().size(), "executors stay");
    }
  }

  private static long hostBytes() {
    return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getTotalMemorySize();
  }
}
