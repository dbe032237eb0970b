package io.rdmashuffle.harness;

import io.rdmashuffle.ShuffleTotals;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToLongFunction;
import org.apache.spark.SparkContext;

/** Reads the plugin's accounting at the driver. */
final class TotalsReader {
  private TotalsReader() {}

  static PluginTotals read(SparkContext context) {
    ShuffleTotals totals = ShuffleTotals.of(context);
    return new PluginTotals(
        byTransport(totals::bytes),
        byTransport(totals::blocks),
        totals.fallbacks(),
        totals.gauges());
  }

  private static Map<String, Long> byTransport(ToLongFunction<String> counter) {
    Map<String, Long> counts = new TreeMap<>();
    for (String transport : new String[] {"rdma", "shm", "tcp"}) {
      counts.put(transport, counter.applyAsLong(transport));
    }
    return counts;
  }
}
