package io.rdmashuffle.spark.read;

import io.rdmashuffle.spark.FallbackReason;
import io.rdmashuffle.spark.ReadAccounting.Way;
import io.rdmashuffle.spark.directory.ExecutorRecord;
import io.rdmashuffle.transport.Connection;
import io.rdmashuffle.transport.Deadline;
import io.rdmashuffle.transport.FailureKind;
import io.rdmashuffle.transport.PeerIdentity;
import io.rdmashuffle.transport.Transport;
import io.rdmashuffle.transport.TransportException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.LongSupplier;

/**
 * Keeps at most one connection to one peer, made on first need. Tries the transports in order of
 * preference; one that can never reach the peer is not tried again. After a failure it reconnects
 * once at once; when that fails too, the peer is left alone for a time that doubles up to a bound.
 *
 * <p>Safe for use by several threads; never blocks, and calls no connection and completes no future
 * while it holds its lock.
 */
final class PeerConnector {
  /** A connection, the transport it belongs to, and how that is accounted. */
  record Link(Connection connection, Transport transport, Way way) {
    static Link of(Connection connection, Transport transport) {
      return new Link(connection, transport, Way.ofTransport(transport.name()));
    }
  }

  /** Why there is no connection. */
  static final class NoLinkException extends Exception {
    private static final long serialVersionUID = 1L;
    private final FallbackReason reason;

    NoLinkException(FallbackReason reason, String detail) {
      super(detail, null, false, false);
      this.reason = reason;
    }

    FallbackReason reason() {
      return reason;
    }
  }

  private final ReadServices services;
  private final LongSupplier nanoClock;
  private final PeerIdentity identity;
  private final ExecutorRecord record;

  /** Changed by the one attempt that is pending, under the lock. */
  private final List<Transport> candidates = new ArrayList<>();

  // Guarded by this.
  private Link link;
  private CompletableFuture<Link> linked;
  private CompletableFuture<Link> pending;
  private NoLinkException lastFailure;
  private long retryAtNs;
  private boolean isClosed;

  /** Written under the lock. */
  private volatile int failuresInARow;

  PeerConnector(ReadServices services, ExecutorRecord record, LongSupplier nanoClock) {
    this.services = services;
    this.record = record;
    this.nanoClock = nanoClock;
    this.identity = new PeerIdentity(services.applicationId(), record.executorId(), record.token());
    for (Transport transport : services.transports()) {
      if (record.endpoint(transport.name()) != null) {
        candidates.add(transport);
      }
    }
    this.lastFailure = nothingInCommon();
  }

  /** What to say of a peer that none of the transports reaches. */
  private NoLinkException nothingInCommon() {
    if (services.transports().isEmpty()) {
      return services.whyNoTransport();
    }
    boolean isRdmaHere = services.transports().stream().anyMatch(Transport::readsByDevice);
    return new NoLinkException(
        isRdmaHere ? FallbackReason.NO_DEVICE : FallbackReason.NO_SHARED_MEMORY,
        "the executor can be read over "
            + record.transports()
            + ", this one reads over "
            + services.transports().stream().map(Transport::name).toList()
            + "; its own log says why it offers no more");
  }

  /**
   * The connection, if there is one, else the outcome of trying to make one. The future completes
   * within the connect deadline, with a {@link Link} or a {@link NoLinkException}; dependents run
   * on the completing thread and must not block.
   */
  CompletableFuture<Link> link() {
    Link broken;
    CompletableFuture<Link> attempt;
    synchronized (this) {
      if (link != null && link.connection().isOpen()) {
        return linked;
      }
      if (pending != null) {
        return pending;
      }
      if (isClosed || candidates.isEmpty() || isBackingOff()) {
        return CompletableFuture.failedFuture(lastFailure);
      }
      broken = takeLink();
      attempt = new CompletableFuture<>();
      pending = attempt;
    }
    close(broken);
    tryCandidate(attempt, 0, Deadline.after(services.connectTimeout()));
    return attempt;
  }

  private boolean isBackingOff() {
    return failuresInARow > 1 && retryAtNs - nanoClock.getAsLong() > 0;
  }

  private void tryCandidate(CompletableFuture<Link> attempt, int index, Deadline deadline) {
    Transport transport = candidates.get(index);
    CompletableFuture<Connection> connecting;
    try {
      connecting = transport.connect(record.endpoint(transport.name()), identity, deadline);
    } catch (RuntimeException e) {
      // A transport should not, but an attempt that never ended would hold up every later one.
      connecting = CompletableFuture.failedFuture(e);
    }
    CompletableFuture<Connection> unused =
        connecting.whenComplete(
            (connection, failure) -> {
              if (failure == null) {
                onConnected(attempt, Link.of(connection, transport));
              } else {
                onConnectFailed(attempt, index, deadline, failure);
              }
            });
  }

  private void onConnected(CompletableFuture<Link> attempt, Link made) {
    NoLinkException tooLate = null;
    synchronized (this) {
      pending = null;
      if (isClosed) {
        tooLate = lastFailure;
      } else {
        link = made;
        linked = CompletableFuture.completedFuture(made);
      }
    }
    if (tooLate == null) {
      attempt.complete(made);
    } else {
      close(made);
      attempt.completeExceptionally(tooLate);
    }
  }

  private void onConnectFailed(
      CompletableFuture<Link> attempt, int index, Deadline deadline, Throwable failure) {
    Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
    NoLinkException reported = describe(candidates.get(index), cause);
    int next;
    boolean isOver;
    synchronized (this) {
      if (isForGood(cause)) {
        candidates.remove(index);
        next = index;
      } else {
        next = index + 1;
      }
      isOver = isClosed || next >= candidates.size();
      if (!isClosed) {
        lastFailure = reported;
      }
      if (isOver) {
        pending = null;
        recordFailure();
      }
    }
    if (isOver) {
      attempt.completeExceptionally(reported);
    } else {
      tryCandidate(attempt, next, deadline);
    }
  }

  /** Memory that cannot be mapped now never will be: the peer is in another place. */
  private static boolean isForGood(Throwable cause) {
    return cause instanceof TransportException transportFailure
        && transportFailure.kind() == FailureKind.NO_SHARED_MEMORY;
  }

  private static NoLinkException describe(Transport transport, Throwable cause) {
    return cause instanceof TransportException failure
        ? new NoLinkException(
            FallbackReason.of(failure.kind()), transport.name() + ": " + failure.getMessage())
        : new NoLinkException(FallbackReason.CONNECT_REJECTED, transport.name() + ": " + cause);
  }

  /** Called with the lock held. */
  private void recordFailure() {
    int failures = failuresInARow + 1;
    failuresInARow = failures;
    retryAtNs = nanoClock.getAsLong() + backoffNs(failures - 2);
  }

  private long backoffNs(int doublings) {
    long backoffNs = services.firstBackoff().toNanos();
    long maxBackoffNs = services.maxBackoff().toNanos();
    for (int i = 0; i < doublings && backoffNs < maxBackoffNs; i++) {
      backoffNs *= 2;
    }
    return Math.min(backoffNs, maxBackoffNs);
  }

  /** Reads over the connection succeed: what failed before is forgiven. */
  void onReadSucceeded() {
    if (failuresInARow != 0) {
      synchronized (this) {
        failuresInARow = 0;
      }
    }
  }

  /** A read failed, so the connection is broken; the next need makes a new one, or backs off. */
  void onReadFailed(Connection broken, FallbackReason reason, String detail) {
    Link dropped;
    synchronized (this) {
      if (link == null || link.connection() != broken) {
        return; // reported before, by another group
      }
      lastFailure = new NoLinkException(reason, detail);
      recordFailure();
      dropped = takeLink();
    }
    close(dropped);
  }

  /** Called with the lock held; the caller closes the link once it has let go. */
  private Link takeLink() {
    Link taken = link;
    link = null;
    linked = null;
    return taken;
  }

  private static void close(Link link) {
    if (link != null) {
      link.connection().close();
    }
  }

  /** Closes the connection and makes no more. Idempotent. */
  void close() {
    Link dropped;
    synchronized (this) {
      isClosed = true;
      lastFailure =
          new NoLinkException(
              FallbackReason.READ_FAILED, "this executor closed its connections to the peer");
      dropped = takeLink();
    }
    close(dropped);
  }
}
