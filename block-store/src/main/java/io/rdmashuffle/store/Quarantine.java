package io.rdmashuffle.store;

import java.util.ArrayDeque;

/**
 * Extents that were given back while peers may still be reading them. One-sided reads are invisible
 * to the owner of the memory, so time is the only proof that nobody reads: an extent stays here for
 * longer than any reader's deadline. Not thread-safe.
 */
final class Quarantine {
  private record Entry(Extent extent, long releaseNs) {}

  private final long lingerNs;
  // Every extent lingers equally long, so the queue is ordered by release time.
  private final ArrayDeque<Entry> entries = new ArrayDeque<>();
  private long bytes;

  /**
   * @param lingerNs how long an extent stays, in nanoseconds
   */
  Quarantine(long lingerNs) {
    if (lingerNs < 0) {
      throw new IllegalArgumentException("lingerNs=" + lingerNs + " < 0");
    }
    this.lingerNs = lingerNs;
  }

  /** Takes an extent over from its owner. */
  void add(Extent extent, long nowNs) {
    entries.addLast(new Entry(extent, nowNs + lingerNs));
    bytes += extent.length();
  }

  /** Removes the extent that was here longest, or answers null when that one has to stay. */
  Extent pollExpired(long nowNs) {
    Entry first = entries.peekFirst();
    if (first == null || nowNs - first.releaseNs < 0) {
      return null;
    }
    entries.removeFirst();
    bytes -= first.extent.length();
    return first.extent;
  }

  /**
   * How long the first extent has to stay yet, at least 0; the longest there is when it is empty.
   */
  long firstExpiresInNs(long nowNs) {
    Entry first = entries.peekFirst();
    return first == null ? Long.MAX_VALUE : Math.max(0, first.releaseNs - nowNs);
  }

  long bytes() {
    return bytes;
  }

  int size() {
    return entries.size();
  }

  void clear() {
    entries.clear();
    bytes = 0;
  }
}
