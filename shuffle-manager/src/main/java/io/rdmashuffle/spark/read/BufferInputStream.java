package io.rdmashuffle.spark.read;

import java.io.InputStream;
import java.nio.ByteBuffer;

/** Reads memory in several pieces as one stream; used by one thread. */
public final class BufferInputStream extends InputStream {
  private final ByteBuffer[] pieces;
  private final Runnable onClose;
  private int current;

  /**
   * @param pieces read from their positions to their limits; their positions do not move
   */
  public BufferInputStream(ByteBuffer[] pieces) {
    this(pieces, () -> {});
  }

  /**
   * @param pieces read from their positions to their limits; their positions do not move
   * @param onClose called whenever the stream is closed
   */
  public BufferInputStream(ByteBuffer[] pieces, Runnable onClose) {
    this.pieces = Buffers.duplicates(pieces);
    this.onClose = onClose;
  }

  @Override
  public int read() {
    return advance() ? pieces[current].get() & 0xff : -1;
  }

  @Override
  public int read(byte[] target, int offset, int length) {
    if (length == 0) {
      return 0;
    }
    if (!advance()) {
      return -1;
    }
    int count = Math.min(length, pieces[current].remaining());
    pieces[current].get(target, offset, count);
    return count;
  }

  @Override
  public long skip(long count) {
    long left = count;
    while (left > 0 && advance()) {
      ByteBuffer piece = pieces[current];
      int step = (int) Math.min(left, piece.remaining());
      piece.position(piece.position() + step);
      left -= step;
    }
    return count - Math.max(0, left);
  }

  @Override
  public int available() {
    return advance() ? pieces[current].remaining() : 0;
  }

  @Override
  public void close() {
    onClose.run();
  }

  private boolean advance() {
    while (current < pieces.length && !pieces[current].hasRemaining()) {
      current++;
    }
    return current < pieces.length;
  }
}
