package io.rdmashuffle.store;

/** Told of runs of slab memory, in the order of the bytes they hold. */
@FunctionalInterface
public interface PieceVisitor {
  /**
   * Called for each run.
   *
   * @param slabId slab of the owner of the map output
   * @param slabOffset where in the slab the run begins, in bytes
   * @param length bytes of the run, at least 1
   */
  void onPiece(int slabId, int slabOffset, int length);
}
