package io.rdmashuffle.spark.resolve;

import io.rdmashuffle.store.BlockStore;
import io.rdmashuffle.store.MapOutput;
import io.rdmashuffle.store.OutputLayout;

/** The map outputs of the executor that the resolver runs in. Safe for use by several threads. */
public interface MemoryOutputs {
  /** Those in memory. */
  BlockStore store();

  /**
   * An output of another executor was committed to memory, and is in Spark's files as well: makes
   * it known to readers, within a deadline. Never fails.
   *
   * @return whether the files are to stay
   */
  boolean onReceived(MapOutput output);

  /**
   * An output of another executor is in Spark's files alone, and its data file is complete: readers
   * are told soon, on another thread.
   */
  void onReceivedInFiles(OutputLayout layout);

  /**
   * Writes the files of an output that is in memory, unless it has them; whether they are there.
   */
  boolean writeFiles(MapOutput output);
}
