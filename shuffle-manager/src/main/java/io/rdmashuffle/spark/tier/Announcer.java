package io.rdmashuffle.spark.tier;

import io.rdmashuffle.store.IndexLocation;

/**
 * Tells readers where map outputs lie, within a deadline. Never fails; used by several threads.
 * Each call returns whether somebody may read the output: not when the driver has dropped the
 * shuffle.
 */
public interface Announcer {
  /** An output can be read one-sided. */
  boolean publish(int shuffleId, long mapTaskId, IndexLocation location);

  /** An output lies in files, and is read over TCP. */
  boolean publishInFiles(int shuffleId, long mapTaskId);
}
