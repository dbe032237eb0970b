package io.rdmashuffle.store;

import io.rdmashuffle.transport.Access;
import io.rdmashuffle.transport.Availability;
import io.rdmashuffle.transport.Connection;
import io.rdmashuffle.transport.Deadline;
import io.rdmashuffle.transport.FailureKind;
import io.rdmashuffle.transport.PeerIdentity;
import io.rdmashuffle.transport.RegisteredSlab;
import io.rdmashuffle.transport.SlabMemory;
import io.rdmashuffle.transport.Transport;
import io.rdmashuffle.transport.TransportCounters;
import io.rdmashuffle.transport.TransportException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;

/** Registers slabs, counts, and refuses when told to; connects to nobody. */
final class FakeTransport implements Transport {
  final TransportCounters counters = new TransportCounters();
  volatile boolean refuses;
  volatile boolean closedAfterMemory;
  volatile Access lastAccess;

  private final String name;
  private final boolean isAvailable;

  FakeTransport(String name) {
    this(name, true);
  }

  FakeTransport(String name, boolean isAvailable) {
    this.name = name;
    this.isAvailable = isAvailable;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public Availability availability() {
    return isAvailable
        ? Availability.available("fake")
        : Availability.unavailable(FailureKind.NO_DEVICE, "no device");
  }

  @Override
  public RegisteredSlab register(SlabMemory slab, Access access) throws TransportException {
    if (refuses || !isAvailable) {
      throw new TransportException(FailureKind.QP_SETUP_FAILED, "no more regions");
    }
    lastAccess = access;
    counters.registrations.increment();
    counters.registeredSlabs.increment();
    return new Registration(slab);
  }

  @Override
  public byte[] localEndpoint() {
    return new byte[0];
  }

  @Override
  public CompletableFuture<Connection> connect(
      byte[] endpoint, PeerIdentity peer, Deadline deadline) {
    throw new UnsupportedOperationException();
  }

  @Override
  public boolean readsByDevice() {
    return false;
  }

  @Override
  public int maxReadLength() {
    return Integer.MAX_VALUE;
  }

  @Override
  public int maxBatchSize() {
    return 16;
  }

  @Override
  public TransportCounters counters() {
    return counters;
  }

  @Override
  public void close() {}

  private final class Registration implements RegisteredSlab {
    private final SlabMemory slab;
    private final AtomicBoolean isClosed = new AtomicBoolean();

    Registration(SlabMemory slab) {
      this.slab = slab;
    }

    @Override
    public SlabMemory slab() {
      return slab;
    }

    @Override
    public long remoteAddress() {
      return 0x10000L * slab.id();
    }

    @Override
    public int remoteKey() {
      return 7000 + slab.id();
    }

    @Override
    public void close() {
      if (isClosed.compareAndSet(false, true)) {
        closedAfterMemory |= slab.isClosed();
        counters.registeredSlabs.decrement();
      }
    }
  }
}
