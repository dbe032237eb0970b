package io.rdmashuffle.transport.verbs;

import com.ibm.disni.verbs.RdmaEventChannel;
import com.ibm.disni.verbs.impl.NatCmaIdPrivate;
import io.rdmashuffle.conf.TransportConfig;
import io.rdmashuffle.transport.PeerIdentity;
import io.rdmashuffle.transport.Transport;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * What a test does on the inside of {@link VerbsTransports}' loader, where the library is. Tests
 * reach it through {@link Inside}; only types of the outside cross over.
 */
public final class InsideProbe {
  private static final int STEP_MS = 5000;

  private InsideProbe() {}

  /**
   * Knocks at a listener as a stranger who says {@code privateData}.
   *
   * @return the event that ended it, with the reason if it is one of ours
   */
  public static String knock(byte[] endpoint, byte[] privateData) throws Exception {
    VerbsEndpoint target = VerbsEndpoint.decode(endpoint);
    RdmaEventChannel events = RdmaEventChannel.createEventChannel();
    long channel = VerbsDevice.handleOf(events);
    long id = VerbsExt.check("id", VerbsExt.createId(channel));
    try {
      VerbsExt.check(
          "resolve", VerbsExt.resolve(id, target.address().getAddress(), target.port(), STEP_MS));
      CmEvent event = next(channel);
      if (event.type() != CmEvent.ADDR_RESOLVED) {
        return event.describe();
      }
      new NatCmaIdPrivate(id, events, null).resolveRoute(STEP_MS);
      event = next(channel);
      if (event.type() != CmEvent.ROUTE_RESOLVED) {
        return event.describe();
      }
      VerbsExt.check("connect", VerbsExt.connect(id, privateData, 1, 1, 7, 6));
      event = next(channel);
      return event.describe() + " " + Handshake.reasonOf(event.privateData());
    } finally {
      VerbsExt.destroyId(id);
      events.destroyEventChannel();
    }
  }

  /** A transport on a device that refuses queue pairs deeper than {@code limit}. */
  public static Transport openScarce(PeerIdentity self, TransportConfig conf, int limit) {
    return VerbsFactory.open(
        self,
        conf,
        "",
        device ->
            (id, depth) -> {
              if (depth > limit) {
                throw new IOException("rdma_create_qp: Cannot allocate memory (errno 12)");
              }
              return device.create(id, depth);
            });
  }

  private static CmEvent next(long channel) throws IOException {
    ByteBuffer buffer =
        ByteBuffer.allocateDirect(VerbsExt.CM_EVENT_LENGTH).order(ByteOrder.nativeOrder());
    VerbsExt.waitReadable(VerbsExt.channelFd(channel), -1, -1, STEP_MS);
    VerbsExt.check("event", VerbsExt.nextCmEvent(channel, VerbsExt.bufferAddress(buffer)));
    return CmEvent.read(buffer);
  }
}
