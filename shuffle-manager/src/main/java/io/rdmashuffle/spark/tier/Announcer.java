package io.rdmashuffle.spark.tier;

import io.rdmashuffle.store.MapOutput;

/** Tells readers where map outputs lie, within a deadline. Never fails; used by several threads. */
public interface Announcer {
  /** An output lies in memory. */
  void publish(MapOutput output);

  /** An output lies in files alone. */
  void publishInFiles(int shuffleId, long mapTaskId);
}
