package io.rdmashuffle.transport.verbs;

import com.ibm.disni.verbs.RdmaEventChannel;
import io.rdmashuffle.conf.TransportConfig;
import io.rdmashuffle.transport.FailureKind;
import io.rdmashuffle.transport.PeerIdentity;
import io.rdmashuffle.transport.Transport;
import io.rdmashuffle.transport.TransportException;
import java.io.IOException;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Where {@link VerbsTransports} enters the loader that has the library. */
public final class VerbsFactory {
  private static final Logger LOG = LoggerFactory.getLogger(VerbsFactory.class);

  private VerbsFactory() {}

  /** As {@link VerbsTransports#open(PeerIdentity, TransportConfig, String)}. */
  public static Transport open(PeerIdentity self, TransportConfig conf, String preferredHost) {
    return open(self, conf, preferredHost, UnaryOperator.identity());
  }

  /**
   * Opens with something in between, for tests.
   *
   * @param wrapping what stands between the transport and the creation of queue pairs
   */
  static Transport open(
      PeerIdentity self,
      TransportConfig conf,
      String preferredHost,
      UnaryOperator<QueuePairFactory> wrapping) {
    RdmaEventChannel events = null;
    VerbsDevice device = null;
    try {
      DeviceDiscovery discovery = new DeviceDiscovery(conf, preferredHost);
      discovery.openDevices();
      events = openChannel();
      Candidate candidate = discovery.choose(VerbsDevice.handleOf(events));
      device = VerbsDevice.open(events, candidate, conf.port());
      self.proof("warm-up"); // the first one takes long, and the next is on the manager's thread
      VerbsTransport transport =
          new VerbsTransport(self, conf, events, device, wrapping.apply(device));
      LOG.info("RDMA uses {}; passed over: {}", candidate, discovery.passedOver(candidate));
      return transport;
    } catch (IOException e) {
      release(device, events);
      return new UnavailableTransport(
          FailureKind.NO_DEVICE, "the RDMA device cannot be used: " + e.getMessage());
    } catch (TransportException e) {
      release(device, events);
      return new UnavailableTransport(e.kind(), e.getMessage());
    }
  }

  private static RdmaEventChannel openChannel() throws IOException {
    try {
      return RdmaEventChannel.createEventChannel();
    } catch (IOException e) {
      throw new IOException(
          e.getMessage()
              + "; expected /dev/infiniband/rdma_cm to be readable and writable: load rdma_ucm, or"
              + " in a container pass /dev/infiniband through",
          e);
    }
  }

  private static void release(VerbsDevice device, RdmaEventChannel events) {
    if (device != null) {
      device.close();
    }
    if (events != null) {
      try {
        events.destroyEventChannel();
      } catch (IOException e) {
        LOG.warn("destroying the event channel failed", e);
      }
    }
  }
}
