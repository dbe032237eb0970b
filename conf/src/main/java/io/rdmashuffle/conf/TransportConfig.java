package io.rdmashuffle.conf;

import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;

/** Settings of the {@code rdma-transport} module. Immutable. */
public final class TransportConfig {
  private final Set<TransportKind> transports;
  private final String device;
  private final PortRange port;
  private final int gidIndex;
  private final int trafficClass;
  private final int ackTimeoutExponent;
  private final int retryCount;
  private final int rnrRetryCount;
  private final int queueDepth;
  private final int maxConnections;
  private final int listenBacklog;
  private final long pollerSpinNs;
  private final long connectTimeoutNs;
  private final long readTimeoutNs;
  private final long stopTimeoutNs;

  TransportConfig(ConfigReader reader) {
    final Set<TransportKind> kinds = EnumSet.of(TransportKind.TCP);
    kinds.addAll(reader.get(ConfigKeys.TRANSPORTS));
    transports = Collections.unmodifiableSet(kinds);
    device = reader.get(ConfigKeys.DEVICE);
    port = reader.get(ConfigKeys.PORT);
    gidIndex = reader.get(ConfigKeys.GID_INDEX);
    trafficClass = reader.get(ConfigKeys.TRAFFIC_CLASS);
    ackTimeoutExponent = reader.get(ConfigKeys.ACK_TIMEOUT);
    retryCount = reader.get(ConfigKeys.RETRY_COUNT);
    rnrRetryCount = reader.get(ConfigKeys.RNR_RETRY_COUNT);
    queueDepth = reader.get(ConfigKeys.QUEUE_DEPTH);
    maxConnections = reader.get(ConfigKeys.MAX_CONNECTIONS);
    listenBacklog = reader.get(ConfigKeys.LISTEN_BACKLOG);
    pollerSpinNs = reader.get(ConfigKeys.POLLER_SPIN).toNanos();
    connectTimeoutNs = reader.get(ConfigKeys.CONNECT_TIMEOUT).toNanos();
    readTimeoutNs = reader.get(ConfigKeys.READ_TIMEOUT).toNanos();
    stopTimeoutNs = reader.get(ConfigKeys.STOP_TIMEOUT).toNanos();
  }

  /**
   * Returns how remote blocks may be read. {@link TransportKind#TCP} is always among them, since it
   * is the last resort.
   */
  public Set<TransportKind> transports() {
    return transports;
  }

  /** Returns whether reads over RDMA are wanted; whether they are possible is another matter. */
  public boolean rdmaEnabled() {
    return transports.contains(TransportKind.RDMA);
  }

  /** Returns whether reads over shared memory are wanted. */
  public boolean shmEnabled() {
    return transports.contains(TransportKind.SHM);
  }

  /**
   * Returns {@code auto}, or what names the device: a device, a network interface, an IP address or
   * a subnet such as {@code 10.1.0.0/16}. Whether it exists is not checked here.
   */
  public String device() {
    return device;
  }

  /** Returns where the RDMA listener may bind. */
  public PortRange port() {
    return port;
  }

  /** Returns the entry of the GID table, 0 to 255; -1 to pick one. */
  public int gidIndex() {
    return gidIndex;
  }

  /** Returns the traffic class byte, 0 to 255; -1 to leave the system's. */
  public int trafficClass() {
    return trafficClass;
  }

  /** Returns n, 1 to 21, for an acknowledgement timeout of 4.096 µs × 2^n. */
  public int ackTimeoutExponent() {
    return ackTimeoutExponent;
  }

  /** Returns how often the card sends again, 0 to 7. */
  public int retryCount() {
    return retryCount;
  }

  /** Returns how often the card tries a peer that is not ready, 0 to 6 (never 7, for ever). */
  public int rnrRetryCount() {
    return rnrRetryCount;
  }

  /** Returns the work requests a connection's send queue should hold, 16 to 65535. */
  public int queueDepth() {
    return queueDepth;
  }

  /** Returns beyond how many connections idle ones are closed, 1 to 65535. */
  public int maxConnections() {
    return maxConnections;
  }

  /** Returns how many connection requests may wait, 1 to 65535. */
  public int listenBacklog() {
    return listenBacklog;
  }

  /** Returns how long a poller spins before it yields, 0 (never) to 1 s. */
  public long pollerSpinNs() {
    return pollerSpinNs;
  }

  /** Returns the deadline for setting up a connection, 10 ms to 10 min. */
  public long connectTimeoutNs() {
    return connectTimeoutNs;
  }

  /** Returns the deadline for a batch of reads, 10 ms to 10 min. */
  public long readTimeoutNs() {
    return readTimeoutNs;
  }

  /** Returns the deadline for giving everything back at the end, 10 ms to 10 min. */
  public long stopTimeoutNs() {
    return stopTimeoutNs;
  }
}
