package io.rdmashuffle.spark.resolve;

import io.netty.channel.FileRegion;
import io.netty.util.AbstractReferenceCounted;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;

/**
 * Memory in several pieces as something Netty can send that may exceed 2 GiB. Owns nothing: the
 * buffer it was made from keeps the memory. Used by one thread of Netty.
 */
final class PiecesRegion extends AbstractReferenceCounted implements FileRegion {
  /** Bytes per write: the JDK copies what it writes to a buffer of that size, and keeps it. */
  private static final int MAX_WRITE_BYTES = 256 << 10;

  private final ByteBuffer[] pieces;
  private final long size;
  private long transferred;

  /**
   * @param pieces read from their positions to their limits; their positions do not move
   */
  PiecesRegion(ByteBuffer[] pieces, long size) {
    this.pieces = pieces;
    this.size = size;
  }

  @Override
  public long position() {
    return 0;
  }

  @Override
  public long transferred() {
    return transferred;
  }

  @Override
  @Deprecated
  public long transfered() {
    return transferred;
  }

  @Override
  public long count() {
    return size;
  }

  /** Writes as much as the channel takes of one piece; the caller comes again for the rest. */
  @Override
  public long transferTo(WritableByteChannel target, long position) throws IOException {
    long skip = position;
    for (ByteBuffer piece : pieces) {
      if (skip < piece.remaining()) {
        int length = (int) Math.min(piece.remaining() - skip, MAX_WRITE_BYTES);
        int written = target.write(piece.slice(piece.position() + (int) skip, length));
        transferred += Math.max(0, written);
        return written;
      }
      skip -= piece.remaining();
    }
    return 0;
  }

  @Override
  public FileRegion retain() {
    super.retain();
    return this;
  }

  @Override
  public FileRegion retain(int increment) {
    super.retain(increment);
    return this;
  }

  @Override
  public FileRegion touch() {
    return this;
  }

  @Override
  public FileRegion touch(Object hint) {
    return this;
  }

  @Override
  protected void deallocate() {}
}
