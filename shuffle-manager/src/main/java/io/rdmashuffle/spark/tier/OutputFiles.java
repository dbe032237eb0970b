package io.rdmashuffle.spark.tier;

import io.rdmashuffle.store.MapOutput;
import java.io.IOException;

/** Files of map outputs that are in memory. Used by several threads. */
interface OutputFiles {
  /**
   * Writes the files of an output; a failure leaves none.
   *
   * @param output pinned by the caller
   */
  void write(MapOutput output) throws IOException;

  /** Deletes the files of an output, those that exist. */
  void delete(int shuffleId, long mapTaskId);
}
