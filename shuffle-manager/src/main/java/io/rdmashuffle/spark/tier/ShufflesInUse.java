package io.rdmashuffle.spark.tier;

import java.util.HashMap;
import java.util.Map;

/** Which shuffles tasks of this executor are using now. Used by several threads. */
final class ShufflesInUse {
  // Guarded by this: users by shuffle.
  private final Map<Integer, Integer> users = new HashMap<>();

  synchronized void begin(int shuffleId) {
    users.merge(shuffleId, 1, Integer::sum);
  }

  synchronized void end(int shuffleId) {
    users.computeIfPresent(shuffleId, (id, count) -> count == 1 ? null : count - 1);
  }

  synchronized boolean contains(int shuffleId) {
    return users.containsKey(shuffleId);
  }
}
