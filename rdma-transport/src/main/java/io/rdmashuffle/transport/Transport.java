package io.rdmashuffle.transport;

import java.util.concurrent.CompletableFuture;

/**
 * One way of reading the memory of other executors without their processors taking part.
 *
 * <p>A transport is created once per process and closed once, after every slab it registered and
 * every connection it made. {@link #close()} is idempotent, closes what is still open, and returns
 * within a bounded time; afterwards no thread, descriptor, mapping or device object of the
 * transport is left.
 *
 * <p>All methods may be called from any thread. None blocks beyond a deadline.
 */
public interface Transport extends AutoCloseable {
  /** Name used in settings and metrics: {@code rdma} or {@code shm}. */
  String name();

  /** Whether the transport can be used here, and if not, why. Never changes. */
  Availability availability();

  /**
   * Makes a slab known to the transport; for verbs, registers its memory. Called once per slab and
   * access, when the slab is added, never on the path of a read.
   *
   * @throws TransportException when the device or the limits refuse; the slab stays usable for
   *     other transports
   */
  RegisteredSlab register(SlabMemory slab, Access access) throws TransportException;

  /**
   * What peers need to reach this process over this transport, as an opaque, versioned block of at
   * most {@value #MAX_ENDPOINT_LENGTH} bytes that the driver hands on unread.
   */
  byte[] localEndpoint();

  /** Upper bound of {@link #localEndpoint()}. */
  int MAX_ENDPOINT_LENGTH = 512;

  /**
   * Connects to a peer. The future completes, normally or with a {@link TransportException}, no
   * later than shortly after the deadline, on a thread of the transport or the calling one.
   *
   * @param endpoint the peer's {@link #localEndpoint()}; may come from a stranger and is validated
   * @param peer who the driver says the peer is; the connection is refused unless the peer proves
   *     it
   */
  CompletableFuture<Connection> connect(byte[] endpoint, PeerIdentity peer, Deadline deadline);

  /**
   * Whether a device reads the memory of peers, and not the reader's own processor. A device keeps
   * in memory what is registered with it, and where it is the responder it may fetch the bytes of
   * one read after those of the next.
   */
  boolean readsByDevice();

  /** Longest single read, in bytes. */
  int maxReadLength();

  /** Most reads one {@link ReadBatch} may hold. */
  int maxBatchSize();

  /** Counters of this transport since it was created. */
  TransportCounters counters();

  @Override
  void close();
}
