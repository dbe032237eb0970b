package io.rdmashuffle.harness;

import io.rdmashuffle.RdmaShuffleManager;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkEnv;

/** What the plugin holds in each executor now, asked there, not as last reported to the driver. */
public final class ExecutorGauges {
  private static final long SETTLE_SECONDS = 60;

  private ExecutorGauges() {}

  /** Of this process; empty where it is no executor with the plugin. */
  public static Map<String, Long> here() {
    return SparkEnv.get().shuffleManager() instanceof RdmaShuffleManager manager
            && manager.runtime() != null
        ? new HashMap<>(manager.runtime().gauges())
        : new HashMap<>();
  }

  /** By executor id. */
  public static Map<String, Map<String, Long>> of(LocalCluster cluster) {
    return OnEachExecutor.run(cluster, ExecutorGauges::here);
  }

  /**
   * Waits until no slab and no receive buffer is lent any more, and no file mapped. Spark
   * unregisters shuffles once nobody refers to them, so the driver's garbage is collected
   * meanwhile.
   *
   * @throws IllegalStateException when something stays lent though no job runs
   */
  public static void awaitNothingLent(LocalCluster cluster) {
    try {
      Poll.until(
          "executors hold memory though no job runs",
          SETTLE_SECONDS,
          TimeUnit.SECONDS,
          () -> {
            System.gc();
            return of(cluster).values().stream().allMatch(gauges -> lentBytes(gauges) == 0);
          });
    } catch (IllegalStateException e) {
      throw new IllegalStateException(e.getMessage() + ": " + of(cluster), e);
    }
  }

  private static long lentBytes(Map<String, Long> gauges) {
    return gauges.get("slabBytesLent") + gauges.get("receiveBytesLent") + gauges.get("mappedBytes");
  }
}
