package io.rdmashuffle.spark.tier;

import java.util.HashMap;
import java.util.Map;

/** Which shuffles tasks of this executor are reading now. Used by several threads. */
final class ShufflesInUse {
  // Guarded by this: readers by shuffle.
  private final Map<Integer, Integer> readers = new HashMap<>();

  synchronized void begin(int shuffleId) {
    readers.merge(shuffleId, 1, Integer::sum);
  }

  synchronized void end(int shuffleId) {
    readers.computeIfPresent(shuffleId, (id, count) -> count == 1 ? null : count - 1);
  }

  synchronized boolean contains(int shuffleId) {
    return readers.containsKey(shuffleId);
  }
}
