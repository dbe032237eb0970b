package io.rdmashuffle.spark.tier;

import io.rdmashuffle.store.MapOutput;

/**
 * Tells readers where map outputs lie, within a deadline. Never fails; used by several threads.
 * Each call returns whether somebody may read the output: not when the driver has dropped the
 * shuffle.
 */
public interface Announcer {
  /** An output lies in memory. */
  boolean publish(MapOutput output);

  /** An output lies in files alone. */
  boolean publishInFiles(int shuffleId, long mapTaskId);
}
