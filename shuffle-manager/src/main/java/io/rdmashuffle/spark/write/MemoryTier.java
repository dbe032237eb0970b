package io.rdmashuffle.spark.write;

import io.rdmashuffle.spark.ExecutorRuntime;
import io.rdmashuffle.store.BlockStore;
import io.rdmashuffle.store.ChecksumAlgorithm;
import io.rdmashuffle.store.MapOutput;

/** What the writers need of the executor they run in. Used by all tasks of the executor. */
interface MemoryTier {
  /** Where map outputs in memory live. */
  BlockStore store();

  /** The algorithm of the checksums that Spark's settings ask for. */
  ChecksumAlgorithm checksumAlgorithm();

  /** Makes an output known to readers, within a deadline; never fails. */
  void publish(MapOutput output);

  /** Tells readers that an output lies in files. */
  void publishInFiles(int shuffleId, long mapTaskId);

  /** An output moves to files because the budget is spent. */
  void onBudgetSpent();

  static MemoryTier of(ExecutorRuntime runtime) {
    return new MemoryTier() {
      @Override
      public BlockStore store() {
        return runtime.store();
      }

      @Override
      public ChecksumAlgorithm checksumAlgorithm() {
        return runtime.checksumAlgorithm();
      }

      @Override
      public void publish(MapOutput output) {
        runtime.publish(output);
      }

      @Override
      public void publishInFiles(int shuffleId, long mapTaskId) {
        runtime.publishInFiles(shuffleId, mapTaskId);
      }

      @Override
      public void onBudgetSpent() {
        runtime.onBudgetSpent();
      }
    };
  }
}
