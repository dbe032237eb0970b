package io.rdmashuffle.spark.read;

import io.rdmashuffle.store.ReceiveBuffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Blocks that lie in several pieces of memory. */
public final class Buffers {
  private static final ByteBuffer[] NOTHING = {};

  private Buffers() {}

  /** The bytes of a part of a receive buffer, without a copy. */
  static ByteBuffer[] slices(ReceiveBuffer buffer, long position, long length) {
    return length == 0 ? NOTHING : buffer.slices(position, length).toArray(NOTHING);
  }

  /** A little-endian number in a receive buffer. */
  static long longAt(ReceiveBuffer buffer, long position) {
    if (buffer.contiguousAt(position) >= Long.BYTES) {
      return buffer.slabAt(position).buffer().getLong(buffer.slabOffsetAt(position));
    }
    ByteBuffer joined = join(slices(buffer, position, Long.BYTES), Long.BYTES);
    return joined.order(ByteOrder.LITTLE_ENDIAN).getLong();
  }

  /** The same pieces with positions of their own. */
  public static ByteBuffer[] duplicates(ByteBuffer[] pieces) {
    ByteBuffer[] copies = new ByteBuffer[pieces.length];
    for (int i = 0; i < pieces.length; i++) {
      copies[i] = pieces[i].duplicate();
    }
    return copies;
  }

  /**
   * The pieces as one buffer: without a copy when there is one piece, else copied to the heap.
   *
   * @throws IllegalStateException when the bytes exceed what one buffer can hold
   */
  public static ByteBuffer join(ByteBuffer[] pieces, long size) {
    if (pieces.length == 1) {
      return pieces[0].duplicate();
    }
    return copy(pieces, size);
  }

  /**
   * The pieces copied to one buffer on the heap.
   *
   * @throws IllegalStateException when the bytes exceed what one buffer can hold
   */
  public static ByteBuffer copy(ByteBuffer[] pieces, long size) {
    if (size > Integer.MAX_VALUE - 8) {
      throw new IllegalStateException(
          "a block of " + size + " bytes does not fit one buffer; read it as a stream");
    }
    ByteBuffer joined = ByteBuffer.allocate((int) size);
    for (ByteBuffer piece : duplicates(pieces)) {
      joined.put(piece);
    }
    return joined.flip();
  }
}
