package io.rdmashuffle.spark.read;

import io.rdmashuffle.spark.FallbackReason;
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

/**
 * Keeps at most one connection to one peer, made on first need. Tries the transports in order of
 * preference; one that can never reach the peer is not tried again. After a failure it reconnects
 * once at once; when that fails too, the peer is left alone for a time that doubles up to a bound.
 *
 * <p>Safe for use by several threads; never blocks.
 */
final class PeerConnector {
  /** A connection and the transport it belongs to. */
  record Link(Connection connection, Transport transport) {}

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
  private final List<Transport> candidates = new ArrayList<>();
  private final PeerIdentity identity;
  private final ExecutorRecord record;

  // All below guarded by this.
  private Link link;
  private CompletableFuture<Link> pending;
  private NoLinkException lastFailure;
  private int failuresInARow;
  private long retryAtNs;
  private boolean isClosed;

  PeerConnector(ReadServices services, ExecutorRecord record) {
    this.services = services;
    this.record = record;
    this.identity = new PeerIdentity(services.applicationId(), record.executorId(), record.token());
    this.lastFailure = services.whyNoTransport();
    for (Transport transport : services.transports()) {
      if (record.endpoint(transport.name()) != null) {
        candidates.add(transport);
      }
    }
  }

  /**
   * The connection, if there is one, else the outcome of trying to make one. The future completes
   * within the connect deadline, with a {@link Link} or a {@link NoLinkException}; dependents run
   * on the completing thread and must not block.
   */
  synchronized CompletableFuture<Link> link() {
    if (link != null && link.connection().isOpen()) {
      return CompletableFuture.completedFuture(link);
    }
    if (pending != null) {
      return pending;
    }
    if (link != null) {
      dropLink();
    }
    if (isClosed || candidates.isEmpty() || isBackingOff()) {
      return CompletableFuture.failedFuture(lastFailure);
    }
    CompletableFuture<Link> attempt = new CompletableFuture<>();
    pending = attempt;
    tryCandidate(attempt, 0, Deadline.after(services.connectTimeout()));
    return attempt;
  }

  private boolean isBackingOff() {
    return failuresInARow > 1 && retryAtNs - System.nanoTime() > 0;
  }

  private void tryCandidate(CompletableFuture<Link> attempt, int index, Deadline deadline) {
    Transport transport = candidates.get(index);
    CompletableFuture<Connection> unused =
        transport
            .connect(record.endpoint(transport.name()), identity, deadline)
            .whenComplete(
                (connection, failure) -> {
                  if (failure == null) {
                    onConnected(attempt, new Link(connection, transport));
                  } else {
                    onConnectFailed(attempt, index, deadline, failure);
                  }
                });
  }

  private void onConnected(CompletableFuture<Link> attempt, Link made) {
    boolean isTooLate;
    synchronized (this) {
      pending = null;
      isTooLate = isClosed;
      if (!isTooLate) {
        link = made;
      }
    }
    if (isTooLate) {
      made.connection().close();
      attempt.completeExceptionally(
          new NoLinkException(FallbackReason.READ_FAILED, "the plugin was stopped"));
    } else {
      attempt.complete(made);
    }
  }

  private void onConnectFailed(
      CompletableFuture<Link> attempt, int index, Deadline deadline, Throwable failure) {
    Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
    NoLinkException reported = describe(candidates.get(index), cause);
    int next;
    synchronized (this) {
      if (isForGood(cause) && candidates.size() > index) {
        candidates.remove(index);
        next = index;
      } else {
        next = index + 1;
      }
      lastFailure = reported;
      if (next >= candidates.size()) {
        pending = null;
        recordFailure();
      }
    }
    if (next < candidates.size()) {
      tryCandidate(attempt, next, deadline);
    } else {
      attempt.completeExceptionally(reported);
    }
  }

  /** Memory that cannot be mapped now never will be: the peer is in another place. */
  private static boolean isForGood(Throwable cause) {
    return cause instanceof TransportException transportFailure
        && transportFailure.kind() == FailureKind.NO_SHARED_MEMORY;
  }

  private static NoLinkException describe(Transport transport, Throwable cause) {
    FallbackReason reason =
        cause instanceof TransportException failure
            ? FallbackReason.of(failure.kind())
            : FallbackReason.CONNECT_REJECTED;
    return new NoLinkException(reason, transport.name() + ": " + cause.getMessage());
  }

  /** Called with the lock held. */
  private void recordFailure() {
    failuresInARow++;
    int doublings = Math.min(Math.max(0, failuresInARow - 2), 30);
    long backoffNs =
        Math.min(services.maxBackoff().toNanos(), services.firstBackoff().toNanos() << doublings);
    retryAtNs = System.nanoTime() + Math.max(0, backoffNs);
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
  synchronized void onReadFailed(Connection broken, FallbackReason reason, String detail) {
    if (link != null && link.connection() == broken) {
      lastFailure = new NoLinkException(reason, detail);
      recordFailure();
      dropLink();
    }
  }

  private void dropLink() {
    Connection connection = link.connection();
    link = null;
    connection.close();
  }

  /** Closes the connection and makes no more. Idempotent. */
  synchronized void close() {
    isClosed = true;
    lastFailure = new NoLinkException(FallbackReason.READ_FAILED, "the plugin was stopped");
    if (link != null) {
      dropLink();
    }
  }
}
