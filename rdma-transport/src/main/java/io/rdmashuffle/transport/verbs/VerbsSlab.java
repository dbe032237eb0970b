package io.rdmashuffle.transport.verbs;

import io.rdmashuffle.transport.RegisteredSlab;
import io.rdmashuffle.transport.SlabMemory;
import java.util.concurrent.atomic.AtomicBoolean;

/** A slab registered as one memory region. Keeps the slab reachable as long as it is registered. */
final class VerbsSlab implements RegisteredSlab {
  private final VerbsTransport owner;
  private final SlabMemory slab;
  private final long region;
  private final long address;
  private final int localKey;
  private final int remoteKey;
  private final boolean isWritable;
  private final AtomicBoolean isClosed = new AtomicBoolean();

  /**
   * @param region handle of the memory region
   * @param address virtual address of the slab
   * @param isWritable whether our own reads may land in it
   */
  VerbsSlab(
      VerbsTransport owner,
      SlabMemory slab,
      long region,
      long address,
      int localKey,
      int remoteKey,
      boolean isWritable) {
    this.owner = owner;
    this.slab = slab;
    this.region = region;
    this.address = address;
    this.localKey = localKey;
    this.remoteKey = remoteKey;
    this.isWritable = isWritable;
  }

  @Override
  public SlabMemory slab() {
    return slab;
  }

  @Override
  public long remoteAddress() {
    return address;
  }

  @Override
  public int remoteKey() {
    return remoteKey;
  }

  int localKey() {
    return localKey;
  }

  long region() {
    return region;
  }

  /** Whether reads of {@code transport} may land here; asked no more once that is closed. */
  boolean accepts(VerbsTransport transport) {
    return owner == transport && isWritable && (!isClosed.get() || transport.isClosed());
  }

  @Override
  public void close() {
    if (isClosed.compareAndSet(false, true)) {
      owner.deregister(this);
    }
  }
}
