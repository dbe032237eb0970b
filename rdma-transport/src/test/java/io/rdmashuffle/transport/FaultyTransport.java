package io.rdmashuffle.transport;

import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * A transport in which things go wrong as a {@link FaultGenerator} says, and as they go wrong with
 * verbs: after one read failed, everything later on its connection is flushed. Wraps any transport,
 * and keeps the contract as that one does.
 */
public final class FaultyTransport implements Transport {
  private static final Duration DEFAULT_DELAY = Duration.ofMillis(100);

  private final Transport delegate;
  private final FaultGenerator faults;
  private final Duration delay;
  private final Set<FaultyConnection> connections = ConcurrentHashMap.newKeySet();

  /** Connects held up by a fault, by a key of their own. */
  private final Map<Object, CompletableFuture<Connection>> connects = new ConcurrentHashMap<>();

  private final ScheduledThreadPoolExecutor timer;

  public FaultyTransport(Transport delegate, FaultGenerator faults) {
    this(delegate, faults, DEFAULT_DELAY);
  }

  /**
   * @param delegate owned from now on
   * @param delay by how much {@link Fault#LATE} is late
   */
  public FaultyTransport(Transport delegate, FaultGenerator faults, Duration delay) {
    this.delegate = delegate;
    this.faults = faults;
    this.delay = delay;
    timer =
        new ScheduledThreadPoolExecutor(
            1,
            task -> {
              Thread thread = new Thread(task, "faulty-transport");
              thread.setDaemon(true);
              return thread;
            });
  }

  @Override
  public String name() {
    return delegate.name();
  }

  @Override
  public Availability availability() {
    return delegate.availability();
  }

  @Override
  public RegisteredSlab register(SlabMemory slab, Access access) throws TransportException {
    Fault fault = faults.onRegister(slab, access);
    if (fault == Fault.ERROR || fault == Fault.MISSING) {
      throw injected(FailureKind.QP_SETUP_FAILED, "registering " + slab);
    }
    return delegate.register(slab, access);
  }

  @Override
  public byte[] localEndpoint() {
    return delegate.localEndpoint();
  }

  @Override
  public CompletableFuture<Connection> connect(
      byte[] endpoint, PeerIdentity peer, Deadline deadline) {
    return switch (faults.onConnect(peer)) {
      case NONE, CORRUPT -> connectNow(endpoint, peer, deadline);
      case ERROR ->
          CompletableFuture.failedFuture(
              injected(FailureKind.CONNECT_REJECTED, "connecting to " + peer));
      case LATE -> connectLater(endpoint, peer, deadline);
      case MISSING -> connectNever(peer, deadline);
    };
  }

  @Override
  public boolean readsByDevice() {
    return delegate.readsByDevice();
  }

  @Override
  public int maxReadLength() {
    return delegate.maxReadLength();
  }

  @Override
  public int maxBatchSize() {
    return delegate.maxBatchSize();
  }

  @Override
  public TransportCounters counters() {
    return delegate.counters();
  }

  @Override
  public void close() {
    timer.shutdownNow();
    connects.values().forEach(result -> result.completeExceptionally(closed()));
    connections.forEach(FaultyConnection::close);
    delegate.close();
  }

  FaultGenerator faults() {
    return faults;
  }

  Duration delay() {
    return delay;
  }

  TransportException injected(FailureKind kind, String what) {
    return new TransportException(kind, what + ": fault injected by " + faults);
  }

  /** Runs the task when it is due; never, when the transport was closed by then. */
  void schedule(Runnable task, long delayNs) {
    try {
      var unused = timer.schedule(task, Math.max(0, delayNs), TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException e) {
      // Closed: every connection ends what is outstanding by itself.
    }
  }

  private void scheduleConnect(CompletableFuture<Connection> result, Runnable task, long delayNs) {
    Object key = new Object();
    connects.put(key, result);
    schedule(
        () -> {
          connects.remove(key);
          task.run();
        },
        delayNs);
    if (timer.isShutdown()) { // perhaps after close() went through the connects
      result.completeExceptionally(closed());
    }
  }

  private static TransportException closed() {
    return new TransportException(FailureKind.CLOSED, "the transport was closed");
  }

  void onConnectionClosed(FaultyConnection connection) {
    connections.remove(connection);
  }

  private CompletableFuture<Connection> connectNow(
      byte[] endpoint, PeerIdentity peer, Deadline deadline) {
    CompletableFuture<Connection> result = new CompletableFuture<>();
    var unused =
        delegate
            .connect(endpoint, peer, deadline)
            .whenComplete(
                (connection, failure) -> {
                  if (failure == null) {
                    FaultyConnection faulty = new FaultyConnection(this, connection);
                    connections.add(faulty);
                    result.complete(faulty);
                  } else {
                    result.completeExceptionally(causeOf(failure));
                  }
                });
    return result;
  }

  private CompletableFuture<Connection> connectLater(
      byte[] endpoint, PeerIdentity peer, Deadline deadline) {
    if (deadline.remainingNs() < delay.toNanos()) {
      return connectNever(peer, deadline);
    }
    CompletableFuture<Connection> result = new CompletableFuture<>();
    scheduleConnect(
        result,
        () -> {
          var unused =
              connectNow(endpoint, peer, deadline)
                  .whenComplete((connection, failure) -> pass(result, connection, failure));
        },
        delay.toNanos());
    return result;
  }

  private CompletableFuture<Connection> connectNever(PeerIdentity peer, Deadline deadline) {
    CompletableFuture<Connection> result = new CompletableFuture<>();
    scheduleConnect(
        result,
        () ->
            result.completeExceptionally(
                injected(FailureKind.CONNECT_TIMEOUT, "connecting to " + peer)),
        deadline.remainingNs());
    return result;
  }

  private static void pass(
      CompletableFuture<Connection> result, Connection connection, Throwable failure) {
    if (failure != null) {
      result.completeExceptionally(causeOf(failure));
    } else if (!result.complete(connection)) {
      connection.close(); // the transport was closed meanwhile
    }
  }

  private static Throwable causeOf(Throwable failure) {
    return failure instanceof CompletionException ? failure.getCause() : failure;
  }
}
