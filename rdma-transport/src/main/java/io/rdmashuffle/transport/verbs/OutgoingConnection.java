package io.rdmashuffle.transport.verbs;

import io.rdmashuffle.conf.TransportConfig;
import io.rdmashuffle.transport.Connection;
import io.rdmashuffle.transport.Deadline;
import io.rdmashuffle.transport.FailureKind;
import io.rdmashuffle.transport.PeerIdentity;
import io.rdmashuffle.transport.TransportException;
import java.io.IOException;
import java.security.SecureRandom;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The way to a queue pair: address, route, queue pair, handshake; then the connection itself, as
 * the connection manager sees it. Every event that can come ends in the next step or in the future
 * failing, and so does silence, by the deadline.
 *
 * <p>Owner: the connection manager's thread, but for {@link #destroy()}, the poller's.
 */
final class OutgoingConnection implements CmHandler, QueuePair {
  private static final Logger LOG = LoggerFactory.getLogger(OutgoingConnection.class);
  private static final SecureRandom RANDOM = new SecureRandom();

  // What InfiniBand's connection manager gives as reasons of a rejection.
  private static final int REASON_NO_LISTENER = 8;
  private static final int REASON_STALE = 10;

  private static final int FIRST_ATTEMPT_MS = 100;
  private static final int LONGEST_ATTEMPT_MS = 2000;

  private enum State {
    IDLE("starting"),
    ADDRESS("resolving its address"),
    ROUTE("resolving the route"),
    HANDSHAKE("waiting for its answer"),
    OPEN("open"),
    CLOSED("closed");

    private final String text;

    State(String text) {
      this.text = text;
    }
  }

  private final VerbsTransport transport;
  private final ConnectionManager manager;
  private final VerbsDevice device;
  private final Poller poller;
  private final TransportConfig conf;
  private final VerbsEndpoint endpoint;
  private final PeerIdentity peer;
  private final Deadline deadline;
  private final CompletableFuture<Connection> future = new CompletableFuture<>();
  private final byte[] nonce = new byte[Handshake.NONCE_LENGTH];
  private State state = State.IDLE;
  private CmId id;
  private VerbsConnection connection;
  private int depth;
  private int attemptMs = FIRST_ATTEMPT_MS;

  OutgoingConnection(
      VerbsTransport transport,
      ConnectionManager manager,
      VerbsDevice device,
      Poller poller,
      TransportConfig conf,
      VerbsEndpoint endpoint,
      PeerIdentity peer,
      Deadline deadline) {
    this.transport = transport;
    this.manager = manager;
    this.device = device;
    this.poller = poller;
    this.conf = conf;
    this.endpoint = endpoint;
    this.peer = peer;
    this.deadline = deadline;
  }

  CompletableFuture<Connection> future() {
    return future;
  }

  void start() {
    if (deadline.isOver()) {
      onDeadline();
      return;
    }
    RANDOM.nextBytes(nonce);
    try {
      id = CmId.create(manager.events(), device);
      manager.add(id.handle(), this);
      // Else the route could choose another device than the one our memory is registered with.
      VerbsExt.check(
          "rdma_bind_addr",
          VerbsExt.bind(id.handle(), device.candidate().address().getAddress(), 0));
      transport.applyOptions(id.handle());
      resolveAddress();
    } catch (IOException e) {
      fail(FailureKind.CONNECT_REJECTED, e.getMessage());
    }
  }

  /**
   * Asks for the address in short attempts: the kernel looks again at the end of one, but may miss
   * an answer of the neighbour that comes while it is about to wait.
   */
  private void resolveAddress() throws IOException {
    VerbsExt.check(
        "rdma_resolve_addr",
        VerbsExt.resolve(
            id.handle(),
            endpoint.address().getAddress(),
            endpoint.port(),
            Math.min(attemptMs, remainingMs())));
    attemptMs = Math.min(LONGEST_ATTEMPT_MS, 2 * attemptMs);
    state = State.ADDRESS;
  }

  private void onAddressError(CmEvent event) {
    if (state == State.ADDRESS && event.status() == -VerbsExt.ETIMEDOUT && !deadline.isOver()) {
      try {
        resolveAddress();
        return;
      } catch (IOException e) {
        LOG.debug("resolving again", e);
      }
    }
    onUnreachable(event);
  }

  private void onUnreachable(CmEvent event) {
    fail(
        FailureKind.CONNECT_REJECTED,
        event.describe() + "; is there a route, and can the switch carry it?");
  }

  @Override
  public void onEvent(CmEvent event) {
    switch (event.type()) {
      case CmEvent.ADDR_RESOLVED -> onAddress();
      case CmEvent.ADDR_ERROR -> onAddressError(event);
      case CmEvent.ROUTE_RESOLVED -> onRoute();
      case CmEvent.ESTABLISHED -> onEstablished(event);
      case CmEvent.REJECTED -> fail(FailureKind.CONNECT_REJECTED, rejection(event));
      case CmEvent.ROUTE_ERROR, CmEvent.CONNECT_ERROR -> onUnreachable(event);
      case CmEvent.UNREACHABLE ->
          fail(
              event.status() == -VerbsExt.ETIMEDOUT
                  ? FailureKind.CONNECT_TIMEOUT
                  : FailureKind.CONNECT_REJECTED,
              event.describe());
      case CmEvent.DISCONNECTED -> lose("the peer closed the connection or is gone");
      case CmEvent.DEVICE_REMOVAL -> lose("the device " + transport.device() + " is gone");
      default -> LOG.debug("ignored: {} from {}", event.name(), endpoint);
    }
  }

  private void onAddress() {
    if (state != State.ADDRESS) {
      return;
    }
    if (VerbsExt.contextOf(id.handle()) != device.contextHandle()) {
      fail(
          FailureKind.CONNECT_REJECTED,
          "its address is reached through another device than " + transport.device());
      return;
    }
    try {
      id.resolveRoute(remainingMs());
      state = State.ROUTE;
    } catch (IOException e) {
      fail(FailureKind.CONNECT_REJECTED, e.getMessage());
    }
  }

  private void onRoute() {
    if (state != State.ROUTE) {
      return;
    }
    try {
      createQueuePair();
      transport.counters().peerResources.increment();
    } catch (IOException e) {
      fail(FailureKind.QP_SETUP_FAILED, e.getMessage());
      return;
    }
    int result =
        VerbsExt.connect(
            id.handle(),
            Handshake.request(peer, nonce),
            1,
            device.candidate().attributes().maxReadsAsInitiator(),
            conf.retryCount(),
            conf.rnrRetryCount());
    if (result < 0) {
      fail(FailureKind.CONNECT_REJECTED, VerbsExt.describe("rdma_connect", result));
    } else {
      state = State.HANDSHAKE;
    }
  }

  /** A device may refuse before its own limits are reached: half the depth is still good. */
  private void createQueuePair() throws IOException {
    depth = transport.queueDepth();
    while (true) {
      try {
        id.createQueuePair(transport.queuePairs(), depth);
        transport.onDepthGranted(depth);
        return;
      } catch (IOException e) {
        if (depth == 1) {
          throw new IOException(
              e.getMessage()
                  + " even with one work request; the device has no queue pairs or memory left: "
                  + transport.counters().peerResources.sum()
                  + " are in use here",
              e);
        }
        depth /= 2;
      }
    }
  }

  private void onEstablished(CmEvent event) {
    if (state != State.HANDSHAKE) {
      return;
    }
    if (!Handshake.isGenuine(event.privateData(), peer, nonce)) {
      fail(
          FailureKind.CONNECT_REJECTED,
          "who listens there cannot prove to be " + peer + ": the address was reused");
      return;
    }
    connection = new VerbsConnection(transport, poller, peer, endpoint.toString(), depth);
    if (!poller.attach(connection, this)) {
      fail(FailureKind.CLOSED, "there are too many connections, or the transport is closing");
      return;
    }
    state = State.OPEN;
    transport.counters().openConnections.increment();
    if (!future.complete(connection)) {
      connection.close(); // whoever asked has given up
    }
  }

  private void lose(String reason) {
    if (state == State.OPEN) {
      connection.breakWith(
          new TransportException(FailureKind.READ_FAILED, connection + " broke: " + reason));
    } else if (state != State.CLOSED) {
      fail(FailureKind.CONNECT_REJECTED, reason);
    }
  }

  private static String rejection(CmEvent event) {
    Rejection reason = Handshake.reasonOf(event.privateData());
    if (reason != null) {
      return "it said no: " + reason.text();
    }
    return switch (event.status()) {
      case REASON_NO_LISTENER, -VerbsExt.ECONNREFUSED ->
          "nothing listens there (" + event.describe() + "); the executor is gone";
      case REASON_STALE -> "stale connection (" + event.describe() + ")";
      default -> event.describe();
    };
  }

  private void fail(FailureKind kind, String reason) {
    if (state == State.CLOSED || state == State.OPEN) {
      return;
    }
    String step = state.text;
    state = State.CLOSED;
    if (id != null) {
      if (id.hasQueuePair()) {
        id.disconnect();
        transport.counters().peerResources.decrement();
      }
      manager.remove(id.handle());
      id.destroy();
    }
    future.completeExceptionally(
        new TransportException(
            kind, "connecting to " + peer + " at " + endpoint + ", " + step + ": " + reason));
  }

  @Override
  public long deadlineNs() {
    if (state == State.OPEN || state == State.CLOSED) {
      return NO_DEADLINE;
    }
    return deadline.deadlineNs() == NO_DEADLINE ? NO_DEADLINE + 1 : deadline.deadlineNs();
  }

  @Override
  public void onDeadline() {
    fail(FailureKind.CONNECT_TIMEOUT, "no answer before the deadline");
  }

  @Override
  public void onStop() {
    fail(FailureKind.CLOSED, "the transport was closed");
  }

  private int remainingMs() {
    return (int) Math.max(1, Math.min(Integer.MAX_VALUE, deadline.remainingMs()));
  }

  @Override
  public long handle() {
    return id.queuePairHandle();
  }

  /** On the poller. */
  @Override
  public void destroy() {
    id.disconnect();
    id.destroyQueuePair();
    transport.counters().peerResources.decrement();
    transport.counters().openConnections.decrement();
    manager.execute(
        () -> {
          state = State.CLOSED;
          manager.remove(id.handle());
          id.destroy();
        });
  }
}
