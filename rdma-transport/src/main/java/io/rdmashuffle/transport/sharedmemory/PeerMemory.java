package io.rdmashuffle.transport.sharedmemory;

import java.io.IOException;
import java.nio.ByteBuffer;

/** Memory of a peer that a reader holds while it copies from it. */
interface PeerMemory {
  /** The peer's descriptor. */
  int key();

  /**
   * Whether all of a range can lie in the memory.
   *
   * @param address as the peer published it
   * @param length at least 1
   */
  boolean contains(long address, int length);

  /**
   * Copies bytes of a range that it {@linkplain #contains contains}.
   *
   * @throws IOException when they are not there any more
   */
  void copyTo(ByteBuffer target, int targetOffset, long address, int length) throws IOException;

  /** The reader is done with it. */
  void release();
}
