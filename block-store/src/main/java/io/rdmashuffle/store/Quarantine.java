package io.rdmashuffle.store;

import java.util.ArrayDeque;
import java.util.Collection;

/**
 * Memory that was given back while peers may still be reading it. One-sided reads are invisible to
 * the owner of the memory, so time is the only proof that nobody reads: it stays here for longer
 * than any reader's deadline. Not thread-safe.
 */
final class Quarantine<T> {
  private record Entry<T>(T item, long bytes, long releaseNs) {}

  private final long lingerNs;
  // Every item lingers equally long, so the queue is ordered by release time.
  private final ArrayDeque<Entry<T>> entries = new ArrayDeque<>();
  private long bytes;

  /**
   * @param lingerNs how long an item stays, in nanoseconds
   */
  Quarantine(long lingerNs) {
    if (lingerNs < 0) {
      throw new IllegalArgumentException("lingerNs=" + lingerNs + " < 0");
    }
    this.lingerNs = lingerNs;
  }

  /** Takes an item over from its owner. */
  void add(T item, long itemBytes, long nowNs) {
    entries.addLast(new Entry<>(item, itemBytes, nowNs + lingerNs));
    bytes += itemBytes;
  }

  /** Removes the item that was here longest, or answers null when that one has to stay. */
  T pollExpired(long nowNs) {
    Entry<T> first = entries.peekFirst();
    if (first == null || nowNs - first.releaseNs < 0) {
      return null;
    }
    entries.removeFirst();
    bytes -= first.bytes;
    return first.item;
  }

  /** How long the first item has to stay yet, at least 0; the longest there is when it is empty. */
  long firstExpiresInNs(long nowNs) {
    Entry<T> first = entries.peekFirst();
    return first == null ? Long.MAX_VALUE : Math.max(0, first.releaseNs - nowNs);
  }

  long bytes() {
    return bytes;
  }

  int size() {
    return entries.size();
  }

  /** Removes all, however long it was here. */
  void drainTo(Collection<T> items) {
    entries.forEach(entry -> items.add(entry.item));
    clear();
  }

  void clear() {
    entries.clear();
    bytes = 0;
  }
}
