package io.rdmashuffle.harness;

import java.io.Serializable;
import java.util.Map;
import java.util.TreeMap;

/**
 * What the plugin says it read since its application started, at one moment.
 *
 * @param bytes by transport: rdma, shm, tcp
 * @param blocks by transport
 * @param fallbacks count by reason
 * @param gauges by name
 */
public record PluginTotals(
    Map<String, Long> bytes,
    Map<String, Long> blocks,
    Map<String, Long> fallbacks,
    Map<String, Long> gauges)
    implements Serializable {

  /** Nothing read. */
  public static final PluginTotals ZERO = new PluginTotals(Map.of(), Map.of(), Map.of(), Map.of());

  /** Bytes by {@code rdma}, {@code shm} or {@code tcp}. */
  public long bytes(String transport) {
    return bytes.getOrDefault(transport, 0L);
  }

  /** Bytes read by any transport: what must equal Spark's remote bytes. */
  public long allBytes() {
    return bytes("rdma") + bytes("shm") + bytes("tcp");
  }

  /** Bytes that no thread of the serving executor touched. */
  public long oneSidedBytes() {
    return bytes("rdma") + bytes("shm");
  }

  /** Counters since {@code earlier}; gauges as they are now. */
  public PluginTotals since(PluginTotals earlier) {
    return new PluginTotals(
        difference(bytes, earlier.bytes),
        difference(blocks, earlier.blocks),
        difference(fallbacks, earlier.fallbacks),
        gauges);
  }

  private static Map<String, Long> difference(Map<String, Long> now, Map<String, Long> before) {
    Map<String, Long> out = new TreeMap<>();
    now.forEach(
        (key, value) -> {
          long delta = value - before.getOrDefault(key, 0L);
          if (delta != 0) {
            out.put(key, delta);
          }
        });
    return out;
  }
}
