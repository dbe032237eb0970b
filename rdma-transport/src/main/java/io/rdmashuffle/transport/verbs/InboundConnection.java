package io.rdmashuffle.transport.verbs;

import io.rdmashuffle.transport.PeerIdentity;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A queue pair through which a peer reads our memory. The device answers the reads; this process
 * only sets it up and tears it down. Owner: the connection manager's thread.
 */
final class InboundConnection implements CmHandler {
  private static final Logger LOG = LoggerFactory.getLogger(InboundConnection.class);
  private static final long HALF_OPEN_NS = TimeUnit.SECONDS.toNanos(10);

  private final VerbsTransport transport;
  private final Listener listener;
  private final ConnectionManager manager;
  private final CmId id;
  private long deadlineNs;
  private boolean isHalfOpen = true;

  InboundConnection(
      VerbsTransport transport, Listener listener, ConnectionManager manager, CmId id) {
    this.transport = transport;
    this.listener = listener;
    this.manager = manager;
    this.id = id;
  }

  /** Creates the queue pair and says yes. After an exception call {@link #abandon()}. */
  void accept(CmEvent request, PeerIdentity self, VerbsDevice device) throws IOException {
    id.createQueuePair(transport.queuePairs(), 1);
    int reads =
        Math.max(
            1,
            Math.min(
                request.responderResources(),
                device.candidate().attributes().maxReadsAsResponder()));
    VerbsExt.check(
        "rdma_accept",
        VerbsExt.accept(
            id.handle(), Handshake.acceptance(request.privateData(), self), reads, 1, 0));
    deadlineNs = System.nanoTime() + HALF_OPEN_NS;
    if (deadlineNs == NO_DEADLINE) {
      deadlineNs++;
    }
    manager.add(id.handle(), this);
    listener.onAccepting();
    transport.counters().peerResources.increment();
  }

  /** Gives back the queue pair of a request that could not be accepted; the id stays. */
  void abandon() {
    id.destroyQueuePair();
  }

  @Override
  public void onEvent(CmEvent event) {
    switch (event.type()) {
      case CmEvent.ESTABLISHED -> {
        if (isHalfOpen) {
          isHalfOpen = false;
          listener.onEstablished();
        }
      }
      case CmEvent.DISCONNECTED,
          CmEvent.CONNECT_ERROR,
          CmEvent.UNREACHABLE,
          CmEvent.REJECTED,
          CmEvent.DEVICE_REMOVAL -> {
        LOG.debug("a peer's queue pair ends: {}", event.name());
        close();
      }
      default -> LOG.debug("ignored: {}", event.name());
    }
  }

  private void close() {
    id.disconnect();
    id.destroy();
    manager.remove(id.handle());
    listener.onClosed(isHalfOpen);
    transport.counters().peerResources.decrement();
  }

  @Override
  public long deadlineNs() {
    return isHalfOpen ? deadlineNs : NO_DEADLINE;
  }

  @Override
  public void onDeadline() {
    LOG.debug("a peer did not confirm its connection in time");
    close();
  }

  @Override
  public void onStop() {
    close();
  }
}
