package io.rdmashuffle.spark.write;

import java.io.IOException;
import java.io.OutputStream;

/**
 * Compresses a block whose length is not known beforehand, by a codec that fits it: a small block
 * is collected until its end is known. Used by one thread.
 */
final class FittingCompression extends OutputStream {
  private final BlockStreams streams;
  private final OutputStream out;
  private final byte[] buffer;
  private int length;

  private boolean isClosed;

  // Set once the block is known to be large, or at its end.
  private OutputStream compressing;

  /**
   * @param buffer of {@link BlockStreams#SMALL} bytes, lent until the stream is closed
   */
  FittingCompression(BlockStreams streams, OutputStream out, byte[] buffer) {
    this.streams = streams;
    this.out = out;
    this.buffer = buffer;
  }

  @Override
  public void write(int value) throws IOException {
    if (compressing == null && length == buffer.length) {
      decide(Long.MAX_VALUE);
    }
    if (compressing == null) {
      buffer[length++] = (byte) value;
    } else {
      compressing.write(value);
    }
  }

  @Override
  public void write(byte[] bytes, int offset, int count) throws IOException {
    if (compressing == null && count > buffer.length - length) {
      decide(Long.MAX_VALUE);
    }
    if (compressing == null) {
      System.arraycopy(bytes, offset, buffer, length, count);
      length += count;
    } else {
      compressing.write(bytes, offset, count);
    }
  }

  private void decide(long blockLength) throws IOException {
    compressing = streams.compressing(out, blockLength);
    compressing.write(buffer, 0, length);
  }

  /** Closes what it writes to as well. */
  @Override
  public void close() throws IOException {
    if (isClosed) {
      return;
    }
    isClosed = true;
    if (compressing == null) {
      decide(length);
    }
    compressing.close();
  }
}
