package io.rdmashuffle.transport;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Creates slabs of direct memory, which no other process can map: where a shared file cannot be
 * had. Their data begins 8-byte aligned, not page-aligned. Any thread may call.
 */
public final class AnonymousSlabFactory implements SlabFactory {
  private final PeerIdentity owner;
  private final Availability shareable;

  /**
   * @param owner whose slabs these are
   * @param reason why slabs cannot be shared, in a sentence for the administrator
   */
  public AnonymousSlabFactory(PeerIdentity owner, String reason) {
    this.owner = owner;
    shareable = Availability.unavailable(FailureKind.NO_SHARED_MEMORY, reason);
  }

  @Override
  public SlabMemory create(int length) throws IOException {
    SlabMemory.requireValidLength(length);
    SlabMemory slab =
        new SlabMemory(SlabMemory.nextId(), allocate(length), null, SlabMemory.NO_DESCRIPTOR);
    SlabHeader.write(slab, owner);
    return slab;
  }

  @Override
  public Availability shareable() {
    return shareable;
  }

  private static ByteBuffer allocate(int length) throws IOException {
    try {
      // The JDK fills the memory with zeros, so every page is backed.
      return ByteBuffer.allocateDirect(length);
    } catch (OutOfMemoryError e) {
      throw new IOException(
          "no direct memory for a slab of "
              + length
              + " bytes ("
              + e.getMessage()
              + "); lower "
              + SlabSettings.SIZE
              + " or raise -XX:MaxDirectMemorySize in"
              + " spark.executor.extraJavaOptions",
          e);
    }
  }
}
