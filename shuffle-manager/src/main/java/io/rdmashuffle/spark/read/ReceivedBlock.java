package io.rdmashuffle.spark.read;

import io.netty.buffer.Unpooled;
import io.rdmashuffle.store.ReceiveBuffer;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.network.buffer.ManagedBuffer;

/**
 * A fetched block in receive buffers. Its memory goes back when the last reference is released;
 * until then nothing writes to it. Created with one reference, that of the fetch client.
 */
final class ReceivedBlock extends ManagedBuffer {
  private final ReceiveBuffer memory;
  private final long position;
  private final long size;
  private final AtomicInteger references = new AtomicInteger(1);

  /**
   * @param memory what the block lies in; kept until the block is done with
   * @param position where in that memory the block begins
   */
  ReceivedBlock(ReceiveBuffer memory, long position, long size) {
    this.memory = memory.retain();
    this.position = position;
    this.size = size;
  }

  private ByteBuffer[] pieces() {
    return Buffers.slices(memory, position, size);
  }

  @Override
  public long size() {
    return size;
  }

  @Override
  public ByteBuffer nioByteBuffer() {
    return Buffers.join(pieces(), size);
  }

  @Override
  public InputStream createInputStream() {
    return new BufferInputStream(pieces());
  }

  @Override
  public ManagedBuffer retain() {
    references.incrementAndGet();
    return this;
  }

  @Override
  public ManagedBuffer release() {
    int left = references.decrementAndGet();
    if (left == 0) {
      memory.release();
    } else if (left < 0) {
      throw new IllegalStateException("a fetched block was released more often than retained");
    }
    return this;
  }

  @Override
  public Object convertToNetty() {
    return Unpooled.wrappedBuffer(pieces());
  }

  /** Abstract in Spark 4 and unknown to Spark 3.5, hence no {@code @Override}. */
  @SuppressWarnings("MissingOverride")
  public Object convertToNettyForSsl() {
    return convertToNetty();
  }
}
