package io.rdmashuffle.transport;

/**
 * A slab as one transport knows it. Closed by whoever registered it, before the slab's memory is
 * closed and after no peer reads it any more; idempotent.
 */
public interface RegisteredSlab extends AutoCloseable {
  /** The slab that is registered. */
  SlabMemory slab();

  /**
   * What a peer adds to an offset within the slab to name a byte of it: the virtual address of the
   * slab for verbs, {@link SlabMemory#peerAddress()} for shared memory.
   */
  long remoteAddress();

  /** What a peer must present to read: the rkey for verbs, the descriptor for shared memory. */
  int remoteKey();

  @Override
  void close();
}
