package io.rdmashuffle.store;

import io.rdmashuffle.transport.Availability;
import io.rdmashuffle.transport.PeerIdentity;
import io.rdmashuffle.transport.SlabFactories;
import io.rdmashuffle.transport.SlabFactory;
import io.rdmashuffle.transport.SlabMemory;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/** A factory that remembers its slabs, and fails or waits when told to. */
final class TestSlabs implements SlabFactory {
  static final PeerIdentity OWNER = new PeerIdentity("app", "1", new byte[32]);

  final List<SlabMemory> created = new CopyOnWriteArrayList<>();
  volatile boolean isFull;
  volatile CountDownLatch arrived;
  volatile CountDownLatch gate;

  private final AtomicInteger attemptCount = new AtomicInteger();
  private final SlabFactory delegate;

  TestSlabs() {
    this(Path.of("/no/such/directory"));
  }

  TestSlabs(Path directory) {
    delegate = SlabFactories.open(directory, OWNER);
  }

  @Override
  public SlabMemory create(int length) throws IOException {
    attemptCount.incrementAndGet();
    if (isFull) {
      throw new IOException("No space left on device");
    }
    if (gate != null) {
      arrived.countDown();
      try {
        gate.await();
      } catch (InterruptedException e) {
        throw new IOException(e);
      }
    }
    SlabMemory slab = delegate.create(length);
    created.add(slab);
    return slab;
  }

  @Override
  public Availability shareable() {
    return delegate.shareable();
  }

  int attempts() {
    return attemptCount.get();
  }

  long openCount() {
    return created.stream().filter(slab -> !slab.isClosed()).count();
  }
}
