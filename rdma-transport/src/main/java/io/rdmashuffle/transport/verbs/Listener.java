package io.rdmashuffle.transport.verbs;

import io.rdmashuffle.transport.LogLimit;
import io.rdmashuffle.transport.PeerIdentity;
import java.io.IOException;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers connect requests: lets in who proves to know this process's token, within bounds, and
 * turns away everybody else. Owner: the connection manager's thread.
 */
final class Listener implements CmHandler {
  private static final Logger LOG = LoggerFactory.getLogger(Listener.class);

  private static final Duration PERIOD_OF_LINES = Duration.ofMinutes(1);

  private final VerbsTransport transport;
  private final ConnectionManager manager;
  private final VerbsDevice device;
  private final PeerIdentity self;
  private final Admission admission;
  private final LogLimit logLimit = new LogLimit(PERIOD_OF_LINES);

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
    admission = new Admission(self, maxInbound, System::nanoTime);
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
    Rejection rejection = admission.check(event.privateData());
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
    long leftOut = logLimit.admit();
    if (leftOut >= 0) {
      LOG.warn(
          "an RDMA connection request to {} was rejected: {}{} ({} more since the last such line;"
              + " there is one a minute at most)",
          device.candidate(),
          reason,
          cause == null ? "" : ", " + cause.getMessage(),
          leftOut);
    }
  }

  // Called by inbound connections.

  void onAccepting() {
    admission.onAccepting();
  }

  void onEstablished() {
    admission.onEstablished();
  }

  void onClosed(boolean wasHalfOpen) {
    admission.onClosed(wasHalfOpen);
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
