package io.rdmashuffle.transport.sharedmemory;

import io.rdmashuffle.transport.SlabHeader;
import io.rdmashuffle.transport.Unmapper;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.LongAdder;

/**
 * A slab of a peer, mapped into this process. Whoever reads it holds it, and so does the table that
 * it is found in; the last to let go unmaps it. Thus nobody waits for a reader, and no reader finds
 * the memory gone.
 */
final class PeerSlab implements PeerMemory {
  private static final VarHandle HOLDERS;

  static {
    try {
      HOLDERS = MethodHandles.lookup().findVarHandle(PeerSlab.class, "holders", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final int key;
  private final ByteBuffer buffer;
  private final LongAdder mappingCount;

  /** 0: unmapped, for good. */
  private volatile int holders = 1;

  /**
   * @param key the peer's descriptor
   * @param buffer the mapping, owned from now on
   * @param mappingCount gauge that counts it for as long as it exists
   */
  PeerSlab(int key, ByteBuffer buffer, LongAdder mappingCount) {
    this.key = key;
    this.buffer = buffer;
    this.mappingCount = mappingCount;
    mappingCount.increment();
  }

  @Override
  public int key() {
    return key;
  }

  @Override
  public boolean contains(long address, int length) {
    return address >= 0 && address <= buffer.capacity() - length;
  }

  /** False once the peer gave the slab up; its descriptor may now be that of another one. */
  boolean isLiving() {
    return SlabHeader.isLiving(buffer);
  }

  /** Keeps the slab mapped until {@link #release()}; false when it is mapped no more. */
  boolean hold() {
    int count;
    do {
      count = holders;
      if (count == 0) {
        return false;
      }
    } while (!HOLDERS.compareAndSet(this, count, count + 1));
    return true;
  }

  /** Ends one {@link #hold()}, or the table's. */
  @Override
  public void release() {
    if ((int) HOLDERS.getAndAdd(this, -1) == 1) {
      Unmapper.unmap(buffer);
      mappingCount.decrement();
    }
  }

  @Override
  public void copyTo(ByteBuffer target, int targetOffset, long address, int length)
      throws IOException {
    try {
      target.put(targetOffset, buffer, (int) address, length);
    } catch (InternalError e) {
      // What the JVM makes of SIGBUS: the file has shrunk, or its memory has an error.
      throw new IOException("the slab is no longer readable", e);
    }
  }
}
