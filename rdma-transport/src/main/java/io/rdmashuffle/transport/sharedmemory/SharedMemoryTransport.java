package io.rdmashuffle.transport.sharedmemory;

import io.rdmashuffle.transport.Access;
import io.rdmashuffle.transport.Availability;
import io.rdmashuffle.transport.Connection;
import io.rdmashuffle.transport.Deadline;
import io.rdmashuffle.transport.FailureKind;
import io.rdmashuffle.transport.PeerIdentity;
import io.rdmashuffle.transport.ProcFileSystem;
import io.rdmashuffle.transport.ProcessIdentity;
import io.rdmashuffle.transport.RegisteredSlab;
import io.rdmashuffle.transport.SlabMemory;
import io.rdmashuffle.transport.Transport;
import io.rdmashuffle.transport.TransportCounters;
import io.rdmashuffle.transport.TransportException;
import java.io.IOException;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Reads the slabs of executors on the same host by mapping them. Has no thread of its own: connects
 * and reads run in the calling thread, and no call waits for a peer.
 *
 * <p>A peer is trusted as little as over a network. Its endpoint carries a proof made with its
 * token, the process it names must still be the one that made it, and every slab must carry a proof
 * before a byte of it is used; a file counts only while the process that has it open still runs.
 */
public final class SharedMemoryTransport implements Transport {
  static final int MAX_READ_LENGTH = 1 << 30;

  /** Nothing is reserved per read; the bound keeps callers to one size of batch. */
  static final int MAX_BATCH_SIZE = 1024;

  private static final long CLOSE_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(2);
  private static final long CLOSE_POLL_NS = TimeUnit.MICROSECONDS.toNanos(100);

  private final Availability availability;
  private final ProcessIdentity process;
  private final byte[] localEndpoint;
  private final TransportCounters counters = new TransportCounters();
  private final Set<SharedMemorySlab> registered = ConcurrentHashMap.newKeySet();
  private final Set<SharedMemoryConnection> connections = ConcurrentHashMap.newKeySet();
  private volatile boolean isClosed;

  /** The process is null, and the endpoint empty, when the transport is not available. */
  private SharedMemoryTransport(
      Availability availability, ProcessIdentity process, byte[] localEndpoint) {
    this.availability = availability;
    this.process = process;
    this.localEndpoint = localEndpoint;
  }

  /**
   * The transport of this process; always returns one, which may be unavailable.
   *
   * @param self who this process is, for the proof in its endpoint
   * @param slabsShareable what the factory of this process's slabs says
   */
  public static SharedMemoryTransport open(PeerIdentity self, Availability slabsShareable) {
    if (!slabsShareable.isAvailable()) {
      return new SharedMemoryTransport(slabsShareable, null, new byte[0]);
    }
    try {
      ProcessIdentity process = ProcFileSystem.SYSTEM.self();
      return new SharedMemoryTransport(
          slabsShareable, process, SharedMemoryEndpoint.of(process, self).encode());
    } catch (IOException e) {
      return new SharedMemoryTransport(
          Availability.unavailable(
              FailureKind.NO_SHARED_MEMORY, "cannot read this process's entry in /proc: " + e),
          null,
          new byte[0]);
    }
  }

  @Override
  public String name() {
    return "shm";
  }

  @Override
  public Availability availability() {
    return availability;
  }

  /** Costs nothing: peers find the slab by its descriptor. */
  @Override
  public RegisteredSlab register(SlabMemory slab, Access access) throws TransportException {
    requireUsable();
    if (access == Access.REMOTE_READ && !slab.isShareable()) {
      throw new TransportException(
          FailureKind.NO_SHARED_MEMORY, slab + " has no file that peers could map");
    }
    SharedMemorySlab result = new SharedMemorySlab(slab, this::onSlabClosed);
    registered.add(result);
    counters.registrations.increment();
    counters.registeredSlabs.increment();
    return result;
  }

  /** Which process this is, with a proof; empty when the transport is not available. */
  @Override
  public byte[] localEndpoint() {
    return localEndpoint.clone();
  }

  /** The future returned is already complete. */
  @Override
  public CompletableFuture<Connection> connect(
      byte[] endpoint, PeerIdentity peer, Deadline deadline) {
    try {
      requireUsable();
      if (deadline.isOver()) {
        throw new TransportException(
            FailureKind.CONNECT_TIMEOUT, "no time was left to connect to " + peer);
      }
      ProcessIdentity owner = new PeerCheck(process, peer).processOf(endpoint);
      return CompletableFuture.completedFuture(connectTo(peer, owner));
    } catch (TransportException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  @Override
  public boolean readsByDevice() {
    return false;
  }

  @Override
  public int maxReadLength() {
    return MAX_READ_LENGTH;
  }

  @Override
  public int maxBatchSize() {
    return MAX_BATCH_SIZE;
  }

  @Override
  public TransportCounters counters() {
    return counters;
  }

  /** Waits, if other threads are reading, for the piece each is just copying. */
  @Override
  public void close() {
    isClosed = true;
    connections.forEach(SharedMemoryConnection::close);
    registered.forEach(SharedMemorySlab::close);
    Deadline deadline = new Deadline(System.nanoTime() + CLOSE_TIMEOUT_NS);
    while (counters.peerResources.sum() > 0 && !deadline.isOver()) {
      LockSupport.parkNanos(CLOSE_POLL_NS);
    }
  }

  private Connection connectTo(PeerIdentity peer, ProcessIdentity owner) throws TransportException {
    SharedMemoryConnection connection =
        new SharedMemoryConnection(
            peer,
            new PeerSlabs(peer, owner, counters.peerResources),
            counters,
            this::onConnectionClosed);
    counters.openConnections.increment();
    connections.add(connection);
    if (isClosed) { // perhaps after close() went through the connections
      connection.close();
      requireUsable();
    }
    return connection;
  }

  private void requireUsable() throws TransportException {
    if (isClosed) {
      throw new TransportException(
          FailureKind.CLOSED, "the shared-memory transport of this process was closed");
    }
    if (!availability.isAvailable()) {
      throw new TransportException(availability.failureKind(), availability.cause());
    }
  }

  private void onConnectionClosed(SharedMemoryConnection connection) {
    connections.remove(connection);
    counters.openConnections.decrement();
  }

  private void onSlabClosed(SharedMemorySlab slab) {
    registered.remove(slab);
    counters.registeredSlabs.decrement();
  }
}
