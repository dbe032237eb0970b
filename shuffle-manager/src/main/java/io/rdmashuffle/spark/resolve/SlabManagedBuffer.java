package io.rdmashuffle.spark.resolve;

import io.netty.buffer.Unpooled;
import io.rdmashuffle.spark.read.BufferInputStream;
import io.rdmashuffle.spark.read.Buffers;
import io.rdmashuffle.store.MapOutput;
import java.io.InputStream;
import java.nio.ByteBuffer;
import org.apache.spark.network.buffer.ManagedBuffer;

/**
 * Partitions of a map output in slab memory, served without a copy to Spark's TCP service and to
 * tasks of this executor. Keeps the output's memory in place while it is in use.
 *
 * <p>Spark's two users count differently. The TCP service takes the buffer and releases it once
 * when it has been sent. A local reader retains it, releases it once, and leaves the reference it
 * got. So the pin is undone at the first release that brings the count to zero, or back to one
 * after a retain; the quarantine covers a user that would count yet another way.
 */
final class SlabManagedBuffer extends ManagedBuffer {
  private final MapOutput output;
  private final ByteBuffer[] pieces;
  private final long size;

  // Guarded by this.
  private int references = 1;
  private boolean wasRetained;
  private boolean isPinned = true;

  /**
   * @param output pinned by the caller; the buffer undoes the pin
   */
  SlabManagedBuffer(MapOutput output, int startPartition, int endPartition) {
    this.output = output;
    this.pieces = output.slices(startPartition, endPartition).toArray(new ByteBuffer[0]);
    long bytes = 0;
    for (ByteBuffer piece : pieces) {
      bytes += piece.remaining();
    }
    this.size = bytes;
  }

  @Override
  public long size() {
    return size;
  }

  @Override
  public ByteBuffer nioByteBuffer() {
    return Buffers.join(pieces, size);
  }

  @Override
  public InputStream createInputStream() {
    return new BufferInputStream(pieces);
  }

  @Override
  public synchronized ManagedBuffer retain() {
    references++;
    wasRetained = true;
    return this;
  }

  @Override
  public synchronized ManagedBuffer release() {
    references--;
    boolean isDone = references == 0 || (wasRetained && references == 1);
    if (isDone && isPinned) {
      isPinned = false;
      output.unpin();
    }
    return this;
  }

  @Override
  public Object convertToNetty() {
    return Unpooled.wrappedBuffer(Buffers.duplicates(pieces));
  }

  /** Abstract in Spark 4 and unknown to Spark 3.5, hence no {@code @Override}. */
  @SuppressWarnings("MissingOverride")
  public Object convertToNettyForSsl() {
    return convertToNetty();
  }

  @Override
  public String toString() {
    return size + " bytes of " + output;
  }
}
