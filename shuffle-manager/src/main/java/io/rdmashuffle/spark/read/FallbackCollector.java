package io.rdmashuffle.spark.read;

import io.rdmashuffle.spark.FallbackReason;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * Blocks of one request that cannot go on at one step of it, handed to TCP together: one request a
 * reason instead of one a block. Used by one thread.
 */
final class FallbackCollector {
  private record Refused(List<String> names, String detail) {}

  private final TcpFallback tcp;
  private final BlockSource source;
  private final Map<FallbackReason, Refused> refused = new EnumMap<>(FallbackReason.class);

  FallbackCollector(TcpFallback tcp, BlockSource source) {
    this.tcp = tcp;
    this.source = source;
  }

  /** Notes a block; the first detail of a reason is the one that is logged. */
  void add(String name, FallbackReason reason, String detail) {
    refused.computeIfAbsent(reason, r -> new Refused(new ArrayList<>(), detail)).names().add(name);
  }

  /** Hands over what was noted. */
  void flush() {
    refused.forEach(
        (reason, blocks) -> tcp.fetchLater(source, blocks.names(), reason, blocks.detail()));
    refused.clear();
  }
}
