package io.rdmashuffle.spark;

import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/**
 * Bytes and blocks that this executor read from others, by transport, and the blocks that fell back
 * to TCP, by reason. The bytes of all transports add up to the remote bytes that Spark itself
 * counts. Written by any thread; the totals only grow.
 */
public final class ReadAccounting {
  /** The ways a block can take. */
  public enum Way {
    RDMA,
    SHM,
    TCP;

    /** As in settings and totals: {@code rdma}, {@code shm}, {@code tcp}. */
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }

    /** The way that a transport's name stands for. */
    public static Way ofTransport(String transportName) {
      return valueOf(transportName.toUpperCase(Locale.ROOT));
    }
  }

  /** Prefixes of the names in {@link #snapshot()}. */
  public static final String BYTES = "bytes.";

  public static final String BLOCKS = "blocks.";
  public static final String FALLBACKS = "fallbacks.";
  public static final String GAUGES = "gauges.";

  private final Map<Way, LongAdder> bytes = new EnumMap<>(Way.class);
  private final Map<Way, LongAdder> blocks = new EnumMap<>(Way.class);
  private final Map<FallbackReason, LongAdder> fallbacks = new EnumMap<>(FallbackReason.class);

  public ReadAccounting() {
    for (Way way : Way.values()) {
      bytes.put(way, new LongAdder());
      blocks.put(way, new LongAdder());
    }
    for (FallbackReason reason : FallbackReason.values()) {
      fallbacks.put(reason, new LongAdder());
    }
  }

  /** A block was handed to Spark. */
  public void onBlockRead(Way way, long blockBytes) {
    bytes.get(way).add(blockBytes);
    blocks.get(way).increment();
  }

  /** Blocks could not be read one-sided and go by TCP. */
  public void onFallback(FallbackReason reason, int blockCount) {
    fallbacks.get(reason).add(blockCount);
  }

  /** All counters that are not zero, under {@code bytes.shm}, {@code fallbacks.STALE} and so on. */
  public Map<String, Long> snapshot() {
    Map<String, Long> snapshot = new LinkedHashMap<>();
    bytes.forEach((way, adder) -> put(snapshot, BYTES + way.label(), adder));
    blocks.forEach((way, adder) -> put(snapshot, BLOCKS + way.label(), adder));
    fallbacks.forEach((reason, adder) -> put(snapshot, FALLBACKS + reason.name(), adder));
    return snapshot;
  }

  private static void put(Map<String, Long> snapshot, String name, LongAdder adder) {
    long value = adder.sum();
    if (value != 0) {
      snapshot.put(name, value);
    }
  }
}
