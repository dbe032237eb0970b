package io.rdmashuffle.transport.sharedmemory;

import io.rdmashuffle.transport.RegisteredSlab;
import io.rdmashuffle.transport.SlabMemory;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * A slab known to the shared-memory transport. There is nothing to register: peers open the slab by
 * its descriptor for as long as its memory exists.
 */
final class SharedMemorySlab implements RegisteredSlab {
  private final SlabMemory slab;
  private final Consumer<SharedMemorySlab> onClose;
  private final AtomicBoolean isClosed = new AtomicBoolean();

  SharedMemorySlab(SlabMemory slab, Consumer<SharedMemorySlab> onClose) {
    this.slab = slab;
    this.onClose = onClose;
  }

  @Override
  public SlabMemory slab() {
    return slab;
  }

  @Override
  public long remoteAddress() {
    return slab.peerAddress();
  }

  @Override
  public int remoteKey() {
    return slab.descriptor();
  }

  @Override
  public void close() {
    if (isClosed.compareAndSet(false, true)) {
      onClose.accept(this);
    }
  }
}
