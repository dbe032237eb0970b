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
 * <p>Spark's users count differently. The TCP service takes the buffer and releases it once when it
 * has been sent. A local reader retains it, releases it once, and leaves the reference it got. So
 * the pin is undone at the first release that brings the count to zero, or back to one after a
 * retain; the quarantine covers a user that would count yet another way. Migration of small blocks
 * asks for the bytes and releases nothing, see {@link #forMigration}. Spark's diagnosis of corrupt
 * blocks neither retains nor releases, but reads a stream and closes it, which then ends the use.
 *
 * <p>Safe for use by several threads.
 */
final class SlabManagedBuffer extends ManagedBuffer {
  private final MapOutput output;
  private final ByteBuffer[] pieces;
  private final long size;
  private final boolean isForMigration;

  // Guarded by this.
  private int references = 1;
  private boolean wasRetained;
  private boolean isPinned = true;

  private SlabManagedBuffer(MapOutput output, ByteBuffer[] pieces, boolean isForMigration) {
    this.output = output;
    this.pieces = pieces;
    this.isForMigration = isForMigration;
    long bytes = 0;
    for (ByteBuffer piece : pieces) {
      bytes += piece.remaining();
    }
    this.size = bytes;
  }

  /**
   * Some partitions.
   *
   * @param output pinned by the caller; the buffer undoes the pin, and so does a failure
   * @throws IndexOutOfBoundsException when the output has no such partitions
   */
  static SlabManagedBuffer of(MapOutput output, int startPartition, int endPartition) {
    return of(output, startPartition, endPartition, false);
  }

  /**
   * All partitions, for one transfer to another executor: the bytes, if they are asked for at once,
   * are a copy, and the pin is undone then.
   *
   * @param output pinned by the caller; the buffer undoes the pin
   */
  static SlabManagedBuffer forMigration(MapOutput output) {
    return of(output, 0, output.numPartitions(), true);
  }

  private static SlabManagedBuffer of(
      MapOutput output, int startPartition, int endPartition, boolean isForMigration) {
    try {
      return new SlabManagedBuffer(
          output,
          output.slices(startPartition, endPartition).toArray(new ByteBuffer[0]),
          isForMigration);
    } catch (RuntimeException e) {
      output.unpin();
      throw e;
    }
  }

  @Override
  public long size() {
    return size;
  }

  @Override
  public ByteBuffer nioByteBuffer() {
    if (!isForMigration) {
      return Buffers.join(pieces, size);
    }
    try {
      return Buffers.copy(pieces, size);
    } finally {
      release();
    }
  }

  @Override
  public InputStream createInputStream() {
    return new BufferInputStream(pieces, this::onStreamClosed);
  }

  private synchronized void onStreamClosed() {
    if (!wasRetained) {
      unpin();
    }
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
    if (isDone) {
      unpin();
    }
    return this;
  }

  /** Called with the lock held; what comes after the first call has no effect. */
  private void unpin() {
    if (isPinned) {
      isPinned = false;
      output.unpin();
    }
  }

  /** One buffer, or a region when there are more bytes than one buffer may have. */
  @Override
  public Object convertToNetty() {
    return size > Integer.MAX_VALUE
        ? new PiecesRegion(pieces, size)
        : Unpooled.wrappedBuffer(Buffers.duplicates(pieces));
  }

  /** Abstract in Spark 4 and unknown to Spark 3.5, hence no {@code @Override}. */
  @SuppressWarnings("MissingOverride")
  public Object convertToNettyForSsl() {
    return size > Integer.MAX_VALUE ? createInputStream() : convertToNetty();
  }

  @Override
  public String toString() {
    return size + " bytes of " + output;
  }
}
