package io.rdmashuffle.spark.tier;

import io.rdmashuffle.store.BlockStore;
import io.rdmashuffle.store.MapOutput;
import io.rdmashuffle.store.SlabPool;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * Moves outputs out of memory when it is short: those of shuffles that no task of this executor
 * writes or reads, oldest first, until a quarter of the budget is free, about to be free, or on its
 * way. Outputs of the shuffle that is being written stay: to move one and write another in its
 * place would only be more work. Used by several threads.
 */
final class ColdOutputs {
  /** The part of the budget to have free for what comes next. */
  private static final int PART_TO_FREE = 4;

  /** Moves an output in the background, and tells the consumer when it is done. */
  @FunctionalInterface
  interface Mover {
    /** Begins to move an output; false when no more can be moved at the moment. */
    boolean move(MapOutput output, Consumer<MapOutput> whenDone);
  }

  private final BlockStore store;
  private final Predicate<Integer> isInUse;
  private final Mover mover;

  // Guarded by this.
  private final Set<MapOutput> moving = new HashSet<>();
  private long movingBytes;

  /**
   * @param isInUse whether the outputs of a shuffle should stay
   */
  ColdOutputs(BlockStore store, Predicate<Integer> isInUse, Mover mover) {
    this.store = store;
    this.isInUse = isInUse;
    this.mover = mover;
  }

  /** The budget did not suffice for an output. Returns at once. */
  synchronized void makeRoom() {
    long missing = store.pool().budgetBytes() / PART_TO_FREE - availableSoon();
    if (missing <= 0) {
      return;
    }
    for (MapOutput output : store.outputs()) {
      if (missing > 0 && !isInUse.test(output.shuffleId()) && moving.add(output)) {
        movingBytes += output.length();
        if (!mover.move(output, this::onMoved)) {
          onMoved(output);
          return;
        }
        missing -= output.length();
      }
    }
  }

  private long availableSoon() {
    SlabPool pool = store.pool();
    return pool.availableBytes() + pool.gauges().quarantinedBytes() + movingBytes;
  }

  private synchronized void onMoved(MapOutput output) {
    moving.remove(output);
    movingBytes -= output.length();
  }
}
