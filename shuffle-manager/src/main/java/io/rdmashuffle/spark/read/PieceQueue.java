package io.rdmashuffle.spark.read;

import io.rdmashuffle.spark.FallbackReason;
import io.rdmashuffle.spark.directory.SlabRecord;
import io.rdmashuffle.store.PieceVisitor;
import java.util.ArrayList;
import java.util.List;

/**
 * The pieces of one block in a peer's slabs or files, in order, handed out in portions of bounded
 * size. Used by one thread.
 */
final class PieceQueue implements PieceVisitor {
  private final FetchRequest request;
  private final int block;
  private final List<SlabRecord> memories = new ArrayList<>();
  private final IntList offsets = new IntList();
  private final IntList lengths = new IntList();
  private FallbackReason obstacle;
  private int next;
  private int doneOfNext;

  PieceQueue(FetchRequest request, int block) {
    this.request = request;
    this.block = block;
  }

  @Override
  public void onPiece(int slabId, int offset, int length) {
    SlabRecord memory = request.memoryOf(block, slabId);
    if (obstacle == null) {
      obstacle = request.whyUnreadable(block, memory, offset, length);
    }
    memories.add(memory);
    offsets.add(offset);
    lengths.add(length);
  }

  /** Why one of the pieces cannot be read; null when all can. */
  FallbackReason obstacle() {
    return obstacle;
  }

  boolean isEmpty() {
    return next == lengths.size();
  }

  /** Moves pieces to a group until it has that many bytes or nothing is left. */
  void fill(ReadGroup group, long windowBytes) {
    while (!isEmpty() && group.totalBytes() < windowBytes) {
      int left = lengths.get(next) - doneOfNext;
      int length = (int) Math.min(left, windowBytes - group.totalBytes());
      group.add(memories.get(next), (long) offsets.get(next) + doneOfNext, length);
      doneOfNext += length;
      if (length == left) {
        next++;
        doneOfNext = 0;
      }
    }
  }
}
