package io.rdmashuffle.transport.verbs;

import com.ibm.disni.verbs.RdmaEventChannel;
import io.rdmashuffle.conf.TransportConfig;
import io.rdmashuffle.transport.Access;
import io.rdmashuffle.transport.Availability;
import io.rdmashuffle.transport.Connection;
import io.rdmashuffle.transport.Deadline;
import io.rdmashuffle.transport.FailureKind;
import io.rdmashuffle.transport.PeerIdentity;
import io.rdmashuffle.transport.ReadBatch;
import io.rdmashuffle.transport.RegisteredSlab;
import io.rdmashuffle.transport.SlabMemory;
import io.rdmashuffle.transport.Transport;
import io.rdmashuffle.transport.TransportCounters;
import io.rdmashuffle.transport.TransportException;
import java.io.IOException;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads over queue pairs of one device. Two daemon threads: {@code rdma-cm} for connections and
 * {@code rdma-poller-N} for reads.
 */
final class VerbsTransport implements Transport {
  private static final Logger LOG = LoggerFactory.getLogger(VerbsTransport.class);
  private static final AtomicInteger NUMBER = new AtomicInteger();

  /** Room for connections that overlap while idle ones are closed. */
  private static final int LEAST_CONNECTIONS = 4096;

  private final TransportConfig conf;
  private final RdmaEventChannel events;
  private final VerbsDevice device;
  private final QueuePairFactory queuePairs;
  private final TransportCounters counters = new TransportCounters();
  private final int maxBatchSize;
  private final AtomicInteger queueDepth; // falls when the device refuses
  private final Poller poller;
  private final ConnectionManager manager;
  private final Thread pollerThread;
  private final Thread managerThread;
  private final byte[] endpoint;
  private final Availability availability;
  private final Set<VerbsSlab> slabs = ConcurrentHashMap.newKeySet();
  private final AtomicBoolean isClosed = new AtomicBoolean();
  private final AtomicBoolean hasWarnedOfOptions = new AtomicBoolean();

  /**
   * Takes over channel and device, also when it throws.
   *
   * @param queuePairs creates queue pairs; the device, but for tests
   */
  VerbsTransport(
      PeerIdentity self,
      TransportConfig conf,
      RdmaEventChannel events,
      VerbsDevice device,
      QueuePairFactory queuePairs)
      throws IOException {
    this.conf = conf;
    this.events = events;
    this.device = device;
    this.queuePairs = queuePairs;
    Candidate candidate = device.candidate();
    int depth =
        Math.min(
            Math.min(conf.queueDepth(), candidate.attributes().maxWorkRequests()),
            device.completionEntries());
    queueDepth = new AtomicInteger(depth);
    maxBatchSize = Math.min(depth, WorkRequestId.MAX_SLOTS);
    poller =
        new Poller(
            device,
            conf.pollerSpinNs(),
            Math.max(LEAST_CONNECTIONS, 2 * conf.maxConnections()),
            maxBatchSize);
    manager = new ConnectionManager(events, device);
    Listener listener =
        new Listener(this, manager, device, self, Math.max(1, conf.maxConnections()));
    manager.add(VerbsDevice.handleOf(device.listenId()), listener);
    applyOptions(VerbsDevice.handleOf(device.listenId()));
    device.listenId().listen(conf.listenBacklog());
    VerbsEndpoint place =
        new VerbsEndpoint(
            candidate.fabric(), candidate.address(), device.listenPort(), candidate.device());
    endpoint = place.encode();
    availability = Availability.available(candidate + ", listening at " + place);
    int number = NUMBER.getAndIncrement();
    managerThread = daemon(manager, number == 0 ? "rdma-cm" : "rdma-cm-" + number);
    pollerThread = daemon(poller, "rdma-poller-" + number);
    managerThread.start();
    pollerThread.start();
  }

  private static Thread daemon(Runnable task, String name) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    return thread;
  }

  @Override
  public String name() {
    return "rdma";
  }

  @Override
  public Availability availability() {
    return availability;
  }

  @Override
  public RegisteredSlab register(SlabMemory slab, Access access) throws TransportException {
    if (isClosed.get()) {
      throw closed();
    }
    boolean isWritable = access == Access.LOCAL_WRITE;
    long address = VerbsExt.bufferAddress(slab.buffer());
    int[] keys = new int[2];
    long region =
        VerbsExt.registerMemory(
            device.pdHandle(),
            address,
            slab.length(),
            isWritable ? VerbsExt.ACCESS_LOCAL_WRITE : VerbsExt.ACCESS_REMOTE_READ,
            keys);
    if (region < 0) {
      throw registrationFailed(slab, region);
    }
    VerbsSlab registered = new VerbsSlab(this, slab, region, address, keys[0], keys[1], isWritable);
    slabs.add(registered);
    counters.registrations.increment();
    counters.registeredSlabs.increment();
    if (isClosed.get()) {
      registered.close(); // close() may have looked before we were there
    }
    return registered;
  }

  private TransportException registrationFailed(SlabMemory slab, long result) {
    long limit = VerbsExt.memlockLimit();
    if (result == -VerbsExt.ENOMEM && limit < Long.MAX_VALUE) {
      return new TransportException(
          FailureKind.MEMLOCK_TOO_LOW, VerbsDevice.memlockMessage(slab.length(), limit));
    }
    return new TransportException(
        FailureKind.QP_SETUP_FAILED,
        VerbsExt.describe("registering " + slab + " with " + device(), result)
            + "; "
            + slabs.size()
            + " slabs are registered, the device admits "
            + device.candidate().attributes().maxRegions());
  }

  /** Called once by the slab. */
  void deregister(VerbsSlab slab) {
    if (!slabs.remove(slab)) {
      return;
    }
    counters.registeredSlabs.decrement();
    int result = VerbsExt.deregisterMemory(slab.region());
    if (result < 0) {
      LOG.warn("{}", VerbsExt.describe("deregistering " + slab.slab(), result));
    }
  }

  @Override
  public byte[] localEndpoint() {
    return endpoint.clone();
  }

  @Override
  public CompletableFuture<Connection> connect(
      byte[] peerEndpoint, PeerIdentity peer, Deadline deadline) {
    try {
      if (isClosed.get()) {
        throw closed();
      }
      VerbsEndpoint target = VerbsEndpoint.decode(peerEndpoint);
      requireReachable(target);
      OutgoingConnection attempt =
          new OutgoingConnection(this, manager, device, poller, conf, target, peer, deadline);
      manager.execute(attempt::start);
      if (isClosed.get()) {
        // The manager may have ended before it came to the attempt.
        attempt.future().completeExceptionally(closed());
      }
      return attempt.future();
    } catch (TransportException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private static TransportException closed() {
    return new TransportException(FailureKind.CLOSED, "the RDMA transport is closed");
  }

  private void requireReachable(VerbsEndpoint target) throws TransportException {
    Candidate own = device.candidate();
    if (target.fabric() != own.fabric()
        || target.address().getAddress().length != own.address().getAddress().length) {
      throw new TransportException(
          FailureKind.CONNECT_REJECTED,
          "peer at " + target + " uses " + target.fabric() + ", this process uses " + own);
    }
  }

  @Override
  public boolean readsByDevice() {
    return true;
  }

  @Override
  public int maxReadLength() {
    return device.candidate().maxReadLength();
  }

  @Override
  public int maxBatchSize() {
    return maxBatchSize;
  }

  @Override
  public TransportCounters counters() {
    return counters;
  }

  @Override
  public void close() {
    if (!isClosed.compareAndSet(false, true)) {
      return;
    }
    long deadlineNs = System.nanoTime() + conf.stopTimeoutNs();
    // Queue pairs first, then ids and their threads, then what they were made from.
    poller.stop();
    if (!awaitEnd(pollerThread, poller.isPollerThread(), deadlineNs)) {
      return;
    }
    manager.stop();
    if (!awaitEnd(managerThread, manager.isManagerThread(), deadlineNs)) {
      return;
    }
    slabs.forEach(VerbsSlab::close);
    release();
  }

  private void release() {
    poller.close();
    manager.close();
    device.close();
    try {
      events.destroyEventChannel();
    } catch (IOException e) {
      LOG.warn("destroying the event channel failed", e);
    }
  }

  /** False when what the thread uses must stay: freeing it would crash the process. */
  private static boolean awaitEnd(Thread thread, boolean isSelf, long deadlineNs) {
    if (isSelf) {
      LOG.error("the RDMA transport was closed on its own thread; its device objects stay");
      return false;
    }
    boolean isInterrupted = false;
    while (thread.isAlive()) {
      long leftMs = TimeUnit.NANOSECONDS.toMillis(deadlineNs - System.nanoTime());
      if (leftMs <= 0) {
        LOG.error("{} did not end in time; its device objects stay", thread.getName());
        break;
      }
      try {
        thread.join(leftMs);
      } catch (InterruptedException e) {
        isInterrupted = true; // the bound is short, and half a close helps nobody
      }
    }
    if (isInterrupted) {
      Thread.currentThread().interrupt();
    }
    return !thread.isAlive();
  }

  // For the other classes of the transport.

  boolean isClosed() {
    return isClosed.get();
  }

  QueuePairFactory queuePairs() {
    return queuePairs;
  }

  /** Work requests to ask for when creating a queue pair. */
  int queueDepth() {
    return queueDepth.get();
  }

  /** A queue pair of that depth was created: no need to ask for a deeper one again. */
  void onDepthGranted(int depth) {
    int asked = queueDepth.getAndSet(depth);
    if (depth < asked) {
      LOG.warn(
          "{} refused queue pairs of {} work requests, going on with {}", device(), asked, depth);
    }
  }

  /** Name of the device, for messages. */
  String device() {
    return device.candidate().device();
  }

  /**
   * Checks what is offered.
   *
   * @throws IllegalArgumentException as {@link Connection#offer} says
   */
  void validate(ReadBatch batch) {
    final int size = batch.size();
    if (size < 1 || size > maxBatchSize) {
      throw new IllegalArgumentException("batch of " + size + " reads, max=" + maxBatchSize);
    }
    for (int i = 0; i < size; i++) {
      if (batch.length(i) > maxReadLength()) {
        throw new IllegalArgumentException(
            "read of " + batch.length(i) + " bytes, max=" + maxReadLength());
      }
      if (!(batch.localSlab(i) instanceof VerbsSlab slab && slab.accepts(this))) {
        throw new IllegalArgumentException(
            "read " + i + " does not land in a slab registered here with LOCAL_WRITE");
      }
    }
  }

  /** Sets traffic class and acknowledgement timeout of an id, where the system can. */
  void applyOptions(long id) {
    int result = VerbsExt.setAckTimeout(id, conf.ackTimeoutExponent());
    if (result >= 0 && conf.trafficClass() >= 0) {
      result = VerbsExt.setTypeOfService(id, conf.trafficClass());
    }
    if (result < 0 && hasWarnedOfOptions.compareAndSet(false, true)) {
      LOG.warn(
          "{}; spark.shuffle.rdma.ackTimeout and trafficClass may have no effect",
          VerbsExt.describe("rdma_set_option", result));
    }
  }
}
