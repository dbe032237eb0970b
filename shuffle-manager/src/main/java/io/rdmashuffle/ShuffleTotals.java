package io.rdmashuffle;

import io.rdmashuffle.spark.ReadAccounting;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.SparkContext;

/**
 * What all executors of an application read from each other through the plugin since its start, as
 * known to the driver. Executors report at the end of each task that read, so the totals of a job
 * are complete moments after it.
 */
public final class ShuffleTotals {
  private final Map<String, Long> counters;

  ShuffleTotals(Map<String, Long> counters) {
    this.counters = Map.copyOf(counters);
  }

  /**
   * The totals of a running application, to be called on its driver.
   *
   * @throws IllegalStateException when the application does not use the plugin
   */
  public static ShuffleTotals of(SparkContext context) {
    if (context.env().shuffleManager() instanceof RdmaShuffleManager manager) {
      return manager.totals();
    }
    throw new IllegalStateException(
        "spark.shuffle.manager="
            + context.getConf().get("spark.shuffle.manager", "sort")
            + ", expected "
            + RdmaShuffleManager.class.getName());
  }

  /** Bytes read by {@code rdma}, {@code shm} or {@code tcp}. */
  public long bytes(String transport) {
    return counters.getOrDefault(ReadAccounting.BYTES + transport, 0L);
  }

  /** Blocks read by {@code rdma}, {@code shm} or {@code tcp}. */
  public long blocks(String transport) {
    return counters.getOrDefault(ReadAccounting.BLOCKS + transport, 0L);
  }

  /** Blocks that went by TCP although one-sided reads were wanted or possible, by reason. */
  public Map<String, Long> fallbacks() {
    return withPrefix(ReadAccounting.FALLBACKS);
  }

  /** Sums of the executors' gauges, such as slabs, registrations and connections. */
  public Map<String, Long> gauges() {
    return withPrefix(ReadAccounting.GAUGES);
  }

  private Map<String, Long> withPrefix(String prefix) {
    Map<String, Long> selected = new TreeMap<>();
    counters.forEach(
        (name, value) -> {
          if (name.startsWith(prefix)) {
            selected.put(name.substring(prefix.length()), value);
          }
        });
    return selected;
  }

  /** One line with all of it, for the log. */
  @Override
  public String toString() {
    return "read one-sided and by TCP: rdma="
        + bytes("rdma")
        + " shm="
        + bytes("shm")
        + " tcp="
        + bytes("tcp")
        + " bytes; blocks rdma="
        + blocks("rdma")
        + " shm="
        + blocks("shm")
        + " tcp="
        + blocks("tcp")
        + "; fallbacks="
        + fallbacks()
        + "; "
        + gauges();
  }
}
