package io.rdmashuffle.store;

/** What is known of a peer's slabs; a map lookup, called once per extent of an index block. */
@FunctionalInterface
public interface SlabBounds {
  /**
   * Bytes of a slab of the peer, header included.
   *
   * @return 0 when the peer has no such slab
   */
  int slabLength(int slabId);
}
