package io.rdmashuffle.transport.verbs;

import io.rdmashuffle.transport.PeerIdentity;
import java.io.IOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers connect requests: lets in who proves to know this process's token, within bounds, and
 * turns away everybody else. Owner: the connection manager's thread.
 */
final class Listener implements CmHandler {
  private static final Logger LOG = LoggerFactory.getLogger(Listener.class);

  /** Requests accepted whose other side has not confirmed yet. */
  private static final int MAX_HALF_OPEN = 256;

  private static final int REJECTIONS_PER_LINE = 1000;

  private final VerbsTransport transport;
  private final ConnectionManager manager;
  private final VerbsDevice device;
  private final PeerIdentity self;
  private final int maxInbound;
  private int inbound;
  private int halfOpen;
  private long rejected;

  Listener(
      VerbsTransport transport,
      ConnectionManager manager,
      VerbsDevice device,
      PeerIdentity self,
      int maxInbound) {
    this.transport = transport;
    this.manager = manager;
    this.device = device;
    this.self = self;
    this.maxInbound = maxInbound;
  }

  @Override
  public void onEvent(CmEvent event) {
    if (event.type() == CmEvent.CONNECT_REQUEST) {
      onRequest(event);
    } else {
      LOG.warn("the RDMA listener on {} got {}", device.candidate(), event.describe());
    }
  }

  private void onRequest(CmEvent event) {
    Rejection rejection = Handshake.check(event.privateData(), self);
    if (rejection == null && (inbound >= maxInbound || halfOpen >= MAX_HALF_OPEN)) {
      rejection = Rejection.TOO_MANY;
    }
    if (rejection != null) {
      reject(event.id(), rejection, null);
      return;
    }
    CmId id;
    try {
      id = CmId.adopt(event.id(), manager.events(), device);
    } catch (IOException e) {
      reject(event.id(), Rejection.NO_RESOURCES, e);
      return;
    }
    InboundConnection connection = new InboundConnection(transport, this, manager, id);
    try {
      connection.accept(event, self, device);
    } catch (IOException e) {
      connection.abandon();
      reject(event.id(), Rejection.NO_RESOURCES, e);
    }
  }

  private void reject(long id, Rejection reason, IOException cause) {
    VerbsExt.reject(id, Handshake.rejection(reason));
    VerbsExt.destroyId(id);
    if (rejected++ % REJECTIONS_PER_LINE == 0) {
      LOG.warn(
          "an RDMA connection request was rejected: {}{} ({} so far; one in {} is logged)",
          reason,
          cause == null ? "" : ", " + cause.getMessage(),
          rejected,
          REJECTIONS_PER_LINE);
    }
  }

  // Called by inbound connections.

  void onAccepting() {
    inbound++;
    halfOpen++;
  }

  void onEstablished() {
    halfOpen--;
  }

  void onClosed(boolean wasHalfOpen) {
    inbound--;
    if (wasHalfOpen) {
      halfOpen--;
    }
  }

  @Override
  public long deadlineNs() {
    return NO_DEADLINE;
  }

  @Override
  public void onDeadline() {}

  @Override
  public void onStop() {
    manager.remove(VerbsDevice.handleOf(device.listenId())); // the device destroys the id
  }
}
