package io.rdmashuffle.spark.read;

import io.rdmashuffle.spark.FallbackReason;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * Blocks of one request that cannot go on at one step of it, handed to TCP together: one request a
 * reason instead of one a block. Used by one thread; costs next to nothing as long as all is well.
 */
final class FallbackCollector {
  private record Refused(List<String> names, String detail) {}

  private final TcpFallback tcp;
  private final BlockSource source;

  /** Null until the first block. */
  private Map<FallbackReason, Refused> refused;

  FallbackCollector(TcpFallback tcp, BlockSource source) {
    this.tcp = tcp;
    this.source = source;
  }

  /** Notes a block; the first detail of a reason is the one that is logged. */
  void add(String name, FallbackReason reason, String detail) {
    if (refused == null) {
      refused = new EnumMap<>(FallbackReason.class);
    }
    refused.computeIfAbsent(reason, r -> new Refused(new ArrayList<>(), detail)).names().add(name);
  }

  /** Hands over what was noted; called once, at the end of the step. */
  void flush() {
    if (refused != null) {
      refused.forEach(
          (reason, blocks) -> tcp.fetchLater(source, blocks.names(), reason, blocks.detail()));
    }
  }
}
