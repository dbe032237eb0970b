package io.rdmashuffle.transport.verbs;

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

/** The verbs transport where there can be none: says why and refuses. */
final class UnavailableTransport implements Transport {
  private final Availability availability;
  private final TransportCounters counters = new TransportCounters();

  UnavailableTransport(FailureKind kind, String cause) {
    availability = Availability.unavailable(kind, cause);
  }

  @Override
  public String name() {
    return "rdma";
  }

  @Override
  public Availability availability() {
    return availability;
  }

  @Override
  public RegisteredSlab register(SlabMemory slab, Access access) throws TransportException {
    throw refusal();
  }

  @Override
  public byte[] localEndpoint() {
    return new byte[0];
  }

  @Override
  public CompletableFuture<Connection> connect(
      byte[] endpoint, PeerIdentity peer, Deadline deadline) {
    return CompletableFuture.failedFuture(refusal());
  }

  @Override
  public boolean readsByDevice() {
    return true;
  }

  @Override
  public int maxReadLength() {
    return 0;
  }

  @Override
  public int maxBatchSize() {
    return 0;
  }

  @Override
  public TransportCounters counters() {
    return counters;
  }

  @Override
  public void close() {}

  private TransportException refusal() {
    return new TransportException(availability.failureKind(), availability.cause());
  }
}
