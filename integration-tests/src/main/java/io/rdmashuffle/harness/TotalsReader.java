package io.rdmashuffle.harness;

import java.lang.reflect.Method;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.SparkContext;

/** Reads the plugin's accounting at the driver. */
final class TotalsReader {
  private TotalsReader() {}

  static PluginTotals read(SparkContext context) {
    try {
      Class<?> type = Class.forName("io.rdmashuffle.ShuffleTotals");
      Object totals = type.getMethod("of", SparkContext.class).invoke(null, context);
      return new PluginTotals(
          byTransport(totals, type.getMethod("bytes", String.class)),
          byTransport(totals, type.getMethod("blocks", String.class)),
          counts(totals, type.getMethod("fallbacks")),
          counts(totals, type.getMethod("gauges")));
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("cannot read the plugin's totals", e);
    }
  }

  private static Map<String, Long> byTransport(Object totals, Method accessor)
      throws ReflectiveOperationException {
    Map<String, Long> out = new TreeMap<>();
    for (String transport : new String[] {"rdma", "shm", "tcp"}) {
      out.put(transport, (Long) accessor.invoke(totals, transport));
    }
    return out;
  }

  private static Map<String, Long> counts(Object totals, Method accessor)
      throws ReflectiveOperationException {
    Map<String, Long> out = new TreeMap<>();
    ((Map<?, ?>) accessor.invoke(totals))
        .forEach((key, value) -> out.put(key.toString(), (Long) value));
    return out;
  }
}
