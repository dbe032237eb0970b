package io.rdmashuffle.spark;

import io.rdmashuffle.conf.RdmaShuffleConf;
import io.rdmashuffle.transport.Availability;
import io.rdmashuffle.transport.PeerIdentity;
import io.rdmashuffle.transport.SlabFactory;
import io.rdmashuffle.transport.Transport;
import io.rdmashuffle.transport.TransportCounters;
import io.rdmashuffle.transport.sharedmemory.SharedMemoryTransport;
import io.rdmashuffle.transport.verbs.VerbsTransports;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.apache.spark.SparkConf;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The transports of this executor, in the order in which peers are tried: shared memory reaches
 * executors on this host at the speed of memory, RDMA the others. Says once, in the log, what can
 * be used and why the rest cannot.
 */
final class Transports implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Transports.class);

  /**
   * Where reads are made in their order a stale one is noticed whenever it comes, so this is for
   * users of local blocks alone that would let go of them before they stop reading.
   */
  private static final Duration ORDERED_QUARANTINE = Duration.ofSeconds(1);

  private final List<Transport> open = new ArrayList<>();
  private final List<Transport> available = new ArrayList<>();
  private FallbackReason whyNone = FallbackReason.DISABLED;
  private String whyNoneDetail = "";

  private final UnaryOperator<Transport> wrapper;

  private Transports(UnaryOperator<Transport> wrapper) {
    this.wrapper = wrapper;
  }

  /**
   * @param host by which Spark reaches this executor; the RDMA device of that address is preferred
   * @param wrapper applied to each transport
   */
  static Transports open(
      PeerIdentity self,
      String host,
      SlabFactory slabs,
      RdmaShuffleConf conf,
      SparkConf sparkConf,
      UnaryOperator<Transport> wrapper) {
    Transports transports = new Transports(wrapper);
    if (conf.transport().shmEnabled()) {
      transports.add(SharedMemoryTransport.open(self, slabs.shareable()));
    }
    if (conf.transport().rdmaEnabled()) {
      if (!conf.shuffle().allowCleartext()
          && SparkSettings.wouldPutPlainBytesOnTheWire(sparkConf)) {
        transports.refuse(
            FallbackReason.CLEARTEXT_FORBIDDEN,
            "Spark encrypts its network, blocks are plain, and RDMA does not encrypt: set"
                + " spark.io.encryption.enabled=true or spark.shuffle.rdma.allowCleartext=true");
      } else {
        transports.add(VerbsTransports.open(self, conf.transport(), host));
      }
    }
    return transports;
  }

  private void add(Transport bare) {
    Transport transport = wrapper.apply(bare);
    open.add(transport);
    Availability availability = transport.availability();
    if (availability.isAvailable()) {
      available.add(transport);
      LOG.info("transport {}: {}", transport.name(), availability.cause());
    } else {
      LOG.info("transport {} cannot be used: {}", transport.name(), availability.cause());
      refuse(
          FallbackReason.of(availability.failureKind()),
          transport.name() + ": " + availability.cause());
    }
  }

  /** The last reason given is that of RDMA, the one most worth counting; the details tell all. */
  private void refuse(FallbackReason reason, String detail) {
    whyNone = reason;
    whyNoneDetail = whyNoneDetail.isEmpty() ? detail : whyNoneDetail + "; " + detail;
  }

  /** Transports that can be used, most wanted first. */
  List<Transport> available() {
    return available;
  }

  /** Whether a device reads memory here, and keeps what is registered with it in memory. */
  boolean haveDevice() {
    return available.stream().anyMatch(Transport::readsByDevice);
  }

  /**
   * How long memory that peers may be reading lies idle before it is used again.
   *
   * @param untilReadsEnd longer than any reader's deadline
   */
  Duration quarantine(Duration untilReadsEnd) {
    return !haveDevice() && untilReadsEnd.compareTo(ORDERED_QUARANTINE) > 0
        ? ORDERED_QUARANTINE
        : untilReadsEnd;
  }

  /** Why a peer that no available transport reaches is read over TCP. */
  FallbackReason whyNone() {
    return whyNone;
  }

  String whyNoneDetail() {
    return whyNoneDetail.isEmpty()
        ? "spark.shuffle.rdma.transports names neither rdma nor shm"
        : whyNoneDetail;
  }

  /** What peers need to reach this executor, by transport. */
  Map<String, byte[]> endpoints() {
    Map<String, byte[]> endpoints = new LinkedHashMap<>();
    for (Transport transport : available) {
      endpoints.put(transport.name(), transport.localEndpoint());
    }
    return endpoints;
  }

  /** Counters by transport, under names such as {@code shm.registrations}. */
  Map<String, Long> gauges() {
    Map<String, Long> gauges = new TreeMap<>();
    for (Transport transport : available) {
      TransportCounters counters = transport.counters();
      gauges.put(transport.name() + ".registrations", counters.registrations.sum());
      gauges.put(transport.name() + ".slabs", counters.registeredSlabs.sum());
      gauges.put(transport.name() + ".connections", counters.openConnections.sum());
      gauges.put(transport.name() + ".reads", counters.readsCompleted.sum());
    }
    return gauges;
  }

  /** Bytes read over all of them since the start. */
  long bytesRead() {
    return available.stream().mapToLong(t -> t.counters().bytesRead.sum()).sum();
  }

  @Override
  public void close() {
    for (int i = open.size() - 1; i >= 0; i--) {
      open.get(i).close();
    }
  }

  @Override
  public String toString() {
    List<String> names = new ArrayList<>();
    available.forEach(transport -> names.add(transport.name()));
    names.add("tcp");
    return String.join(", ", names);
  }
}
