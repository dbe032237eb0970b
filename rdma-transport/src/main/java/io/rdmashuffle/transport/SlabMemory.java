package io.rdmashuffle.transport;

import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * One run of memory that is registered as a whole: a shared mapping of a file that was unlinked at
 * birth, or anonymous memory where that cannot be had.
 *
 * <p>The first {@link #HEADER_LENGTH} bytes of a slab that peers may map say whose it is (see
 * {@link SlabHeader}); data begins behind them.
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

  private final int id;
  private final ByteBuffer buffer;
  private final FileChannel channel;
  private final int descriptor;
  private final AtomicBoolean isClosed = new AtomicBoolean();

  /**
   * @param id number of the slab, unique within the process
   * @param buffer direct memory, owned by the slab from now on
   * @param channel the open file behind the mapping, null for anonymous memory
   * @param descriptor number of that open file in this process, or {@link #NO_DESCRIPTOR}
   */
  SlabMemory(int id, ByteBuffer buffer, FileChannel channel, int descriptor) {
    this.id = id;
    this.buffer = buffer.order(ByteOrder.LITTLE_ENDIAN);
    this.channel = channel;
    this.descriptor = descriptor;
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
    Unmapper.unmap(buffer);
    if (channel != null) {
      channel.close();
    }
  }

  @Override
  public String toString() {
    return "slab "
        + id
        + " ("
        + length()
        + " bytes, "
        + (isShareable() ? "shared" : "anonymous")
        + ")";
  }

  /**
   * Gives direct memory back at once instead of whenever the collector finds the buffer; {@code
   * sun.misc.Unsafe.invokeCleaner} is the JDK's supported way since 9 and has no other home.
   */
  static final class Unmapper {
    private static final MethodHandle INVOKE_CLEANER = find();

    private Unmapper() {}

    static void unmap(ByteBuffer buffer) {
      try {
        INVOKE_CLEANER.invokeExact(buffer);
      } catch (Throwable e) {
        throw new IllegalStateException("cannot unmap a slab", e);
      }
    }

    private static MethodHandle find() {
      try {
        Class<?> unsafeClass = Class.forName("sun.misc.Unsafe");
        MethodHandles.Lookup lookup =
            MethodHandles.privateLookupIn(unsafeClass, MethodHandles.lookup());
        Object unsafe = lookup.findStaticGetter(unsafeClass, "theUnsafe", unsafeClass).invoke();
        return lookup
            .findVirtual(
                unsafeClass, "invokeCleaner", MethodType.methodType(void.class, ByteBuffer.class))
            .bindTo(unsafe);
      } catch (Throwable e) {
        throw new ExceptionInInitializerError(e);
      }
    }
  }
}
