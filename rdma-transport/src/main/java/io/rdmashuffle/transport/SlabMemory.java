package io.rdmashuffle.transport;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * One run of memory that is registered as a whole: a shared mapping of a file that was unlinked at
 * birth, or anonymous memory where that cannot be had.
 *
 * <p>The first {@link #HEADER_LENGTH} bytes of a slab that peers may map say whose it is (see
 * {@link SlabHeader}); data begins behind them. A {@linkplain FileWindow window of a file} is the
 * one kind of memory that is not ours to write: it is read-only and holds data from its start.
 *
 * <p>Owned by whoever created it, who closes it once nobody reads or writes it any more: the memory
 * is unmapped at once, and an access through a buffer taken before is undefined. {@link #close()}
 * is idempotent.
 */
public final class SlabMemory implements AutoCloseable {
  /** Bytes at the start of a slab that hold no data; a page, so that data is page-aligned. */
  public static final int HEADER_LENGTH = 4096;

  /** Value of {@link #descriptor()} for anonymous memory. */
  public static final int NO_DESCRIPTOR = -1;

  private static final AtomicInteger NEXT_ID = new AtomicInteger();

  private final int id;
  private final ByteBuffer buffer;
  private final FileChannel channel;
  private final int descriptor;
  private final long peerAddress;
  private final AtomicBoolean isClosed = new AtomicBoolean();

  /**
   * @param id number of the slab, unique within the process
   * @param buffer direct memory, owned by the slab from now on
   * @param channel the open file behind the mapping, null for anonymous memory
   * @param descriptor number of that open file in this process, or {@link #NO_DESCRIPTOR}
   */
  SlabMemory(int id, ByteBuffer buffer, FileChannel channel, int descriptor) {
    this(id, buffer, channel, descriptor, 0);
  }

  /**
   * @param peerAddress see {@link #peerAddress()}
   */
  SlabMemory(int id, ByteBuffer buffer, FileChannel channel, int descriptor, long peerAddress) {
    this.id = id;
    this.buffer = buffer.order(ByteOrder.LITTLE_ENDIAN);
    this.channel = channel;
    this.descriptor = descriptor;
    this.peerAddress = peerAddress;
  }

  /** A number no other slab of this process has. */
  static int nextId() {
    return NEXT_ID.getAndIncrement();
  }

  /**
   * @throws IllegalArgumentException unless a slab can have that many bytes
   */
  static void requireValidLength(int length) {
    if (length < HEADER_LENGTH || length % HEADER_LENGTH != 0) {
      throw new IllegalArgumentException(
          "length=" + length + " is not a positive multiple of " + HEADER_LENGTH);
    }
  }

  public int id() {
    return id;
  }

  /** Bytes of the slab, header included. */
  public int length() {
    return buffer.capacity();
  }

  /**
   * The memory, little-endian. Shared between threads: use absolute access, or take a duplicate.
   */
  public ByteBuffer buffer() {
    return buffer;
  }

  /** The descriptor a peer on this host opens through {@code /proc}, or {@link #NO_DESCRIPTOR}. */
  public int descriptor() {
    return descriptor;
  }

  /** What a peer on this host adds to an offset within the memory to name a byte of it. */
  public long peerAddress() {
    return peerAddress;
  }

  /** Whether peers on this host can map the slab. */
  public boolean isShareable() {
    return descriptor != NO_DESCRIPTOR;
  }

  public boolean isClosed() {
    return isClosed.get();
  }

  @Override
  public void close() throws IOException {
    if (!isClosed.compareAndSet(false, true)) {
      return;
    }
    if (!buffer.isReadOnly()) {
      // A peer may keep the file mapped long after this; it must not take it for a living slab, in
      // particular not when a new slab gets the same descriptor.
      SlabHeader.clear(this);
    }
    Unmapper.unmap(buffer);
    if (channel != null) {
      channel.close();
    }
  }

  @Override
  public String toString() {
    return (buffer.isReadOnly() ? "file window " : "slab ")
        + id
        + " ("
        + length()
        + " bytes, "
        + (isShareable() ? "shared" : "anonymous")
        + ")";
  }
}
