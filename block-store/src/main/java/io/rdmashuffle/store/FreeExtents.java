package io.rdmashuffle.store;

import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The unused runs of all slabs: best fit, coalesced at once, every operation O(log runs). Not
 * thread-safe.
 *
 * <p>An address is the slab's id in the upper and the offset in the lower 32 bits. Because every
 * slab begins with a header that is never added, runs of different slabs never touch.
 */
final class FreeExtents {
  /**
   * @param address where the run begins
   * @param length its bytes
   */
  record Run(long address, int length) implements Comparable<Run> {
    @Override
    public int compareTo(Run other) {
      int order = Integer.compare(length, other.length);
      return order != 0 ? order : Long.compare(address, other.address);
    }
  }

  private final TreeMap<Long, Integer> lengthByAddress = new TreeMap<>();
  private final TreeSet<Run> bySize = new TreeSet<>();
  private long freeBytes;

  static long address(int slabId, int offset) {
    return ((long) slabId << 32) | offset;
  }

  static int slabId(long address) {
    return (int) (address >> 32);
  }

  static int offset(long address) {
    return (int) address;
  }

  long freeBytes() {
    return freeBytes;
  }

  int runCount() {
    return bySize.size();
  }

  /** Adds a run that overlaps none, joining it with its neighbours. */
  void add(long address, int length) {
    freeBytes += length;
    long start = address;
    int total = length;
    Map.Entry<Long, Integer> before = lengthByAddress.lowerEntry(address);
    if (before != null && before.getKey() + before.getValue() == address) {
      start = before.getKey();
      total += before.getValue();
      bySize.remove(new Run(start, before.getValue()));
    }
    Integer after = lengthByAddress.remove(address + length);
    if (after != null) {
      bySize.remove(new Run(address + length, after));
      total += after;
    }
    put(start, total);
  }

  /**
   * Takes from the smallest run that holds {@code preferred}, or else the whole of the largest.
   *
   * @return at least {@code min}, at most {@code preferred} bytes; null when there is no such run
   */
  Run take(int min, int preferred) {
    Run run = bySize.ceiling(new Run(Long.MIN_VALUE, preferred));
    if (run == null) {
      run = bySize.isEmpty() ? null : bySize.last();
      if (run == null || run.length < min) {
        return null;
      }
    }
    int length = Math.min(run.length, preferred);
    takeFront(run, length);
    return new Run(run.address, length);
  }

  /**
   * Takes from the run that begins exactly at an address.
   *
   * @return bytes taken: 0, or between {@code min} and {@code preferred}
   */
  int takeAt(long address, int min, int preferred) {
    Integer found = lengthByAddress.get(address);
    if (found == null || found < min) {
      return 0;
    }
    int length = Math.min(found, preferred);
    takeFront(new Run(address, found), length);
    return length;
  }

  void clear() {
    lengthByAddress.clear();
    bySize.clear();
    freeBytes = 0;
  }

  private void takeFront(Run run, int length) {
    lengthByAddress.remove(run.address);
    bySize.remove(run);
    freeBytes -= length;
    if (length < run.length) {
      put(run.address + length, run.length - length);
    }
  }

  private void put(long address, int length) {
    lengthByAddress.put(address, length);
    bySize.add(new Run(address, length));
  }
}
