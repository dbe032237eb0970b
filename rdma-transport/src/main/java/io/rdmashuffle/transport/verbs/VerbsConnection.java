package io.rdmashuffle.transport.verbs;

import io.rdmashuffle.transport.Connection;
import io.rdmashuffle.transport.FailureKind;
import io.rdmashuffle.transport.PeerIdentity;
import io.rdmashuffle.transport.ReadBatch;
import io.rdmashuffle.transport.ReadListener;
import io.rdmashuffle.transport.TransportException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One queue pair over which this process reads.
 *
 * <p>Accepted batches stand in a ring: [head, posting) are with the device, [posting, tail) wait
 * for room in the send queue. Any thread adds at the tail, under the lock; the rest belongs to the
 * poller. The send queue executes in order and the device completes in order, so a completion is
 * always for the batch at the head, and a completion of one read stands for all reads before it.
 *
 * <p>The connection breaks once. Whoever finds the reason first leaves it here; the poller then
 * destroys the queue pair, after which nothing is written to local memory any more, and only then
 * calls the listeners.
 */
final class VerbsConnection implements Connection {
  private static final Logger LOG = LoggerFactory.getLogger(VerbsConnection.class);

  private final VerbsTransport transport;
  private final Poller poller;
  private final PeerIdentity peer;
  private final String remote;
  private final int depth;
  private final InFlight[] ring;
  private final int mask;

  private final Object lock = new Object();
  private long tail; // guarded by lock
  private long head; // written by the poller under lock
  private int outstandingReads; // guarded by lock
  private boolean isBroken; // guarded by lock

  private final AtomicReference<TransportException> breakCause = new AtomicReference<>();
  private final AtomicBoolean isScheduled = new AtomicBoolean();

  /** Link of the poller's list of connections with news; owner: whoever scheduled it. */
  VerbsConnection nextReady;

  // Owner: poller.
  private QueuePair queuePair;
  private int index;
  private int generation;
  private long posting;
  private int sendCredits;
  private long culprit = -1;
  private boolean isStarved;
  private boolean isBreaking;

  /**
   * @param depth work requests the send queue holds
   * @param remote the peer's address, for messages
   */
  VerbsConnection(
      VerbsTransport transport, Poller poller, PeerIdentity peer, String remote, int depth) {
    this.transport = transport;
    this.poller = poller;
    this.peer = peer;
    this.remote = remote;
    this.depth = depth;
    this.sendCredits = depth;
    ring = new InFlight[Integer.highestOneBit(Math.min(depth, WorkRequestId.MAX_SLOTS))];
    for (int i = 0; i < ring.length; i++) {
      ring[i] = new InFlight();
    }
    mask = ring.length - 1;
  }

  @Override
  public PeerIdentity peer() {
    return peer;
  }

  @Override
  public boolean isOpen() {
    synchronized (lock) {
      return !isBroken;
    }
  }

  @Override
  public boolean offer(ReadBatch batch, ReadListener listener) {
    transport.validate(batch);
    final int reads = batch.size();
    synchronized (lock) {
      if (!isBroken) {
        boolean hasRoom = tail - head < ring.length && outstandingReads + reads <= depth;
        if (!hasRoom && tail != head) {
          transport.counters().offersRefused.increment();
          return false;
        }
        ring[(int) tail & mask].fill(batch, listener);
        tail++;
        outstandingReads += reads;
        listener = null;
      }
    }
    if (listener != null) {
      fail(batch, listener, closedException());
    } else {
      poller.schedule(this);
    }
    return true;
  }

  @Override
  public void close() {
    breakWith(closedException());
  }

  /** Breaks the connection, on any thread; the first reason counts. */
  void breakWith(TransportException cause) {
    synchronized (lock) {
      isBroken = true;
    }
    breakCause.compareAndSet(null, cause);
    poller.schedule(this);
  }

  TransportException closedException() {
    return new TransportException(
        FailureKind.CLOSED, "the RDMA connection to " + description() + " is closed");
  }

  String description() {
    return peer + " at " + remote;
  }

  // What follows runs on the poller, except where stated.

  /** On the thread that attaches, before the poller knows the connection. */
  void attach(QueuePair newQueuePair, int newIndex, int newGeneration) {
    queuePair = newQueuePair;
    index = newIndex;
    generation = newGeneration;
  }

  int index() {
    return index;
  }

  int generation() {
    return generation;
  }

  /** On any thread: false if it is in the poller's list already. */
  boolean markScheduled() {
    return isScheduled.compareAndSet(false, true);
  }

  void unmarkScheduled() {
    isScheduled.set(false);
  }

  boolean mustBreak() {
    return breakCause.get() != null;
  }

  /** True the first time: whoever gets it puts the connection on the list of breaking ones. */
  boolean startBreaking() {
    boolean isFirst = !isBreaking;
    isBreaking = true;
    return isFirst;
  }

  boolean hasOutstanding() {
    return head != tailNow();
  }

  /** Posts as much as there is room for. */
  void post() {
    final long end = tailNow();
    while (posting != end && !mustBreak()) {
      final int slot = (int) posting & mask;
      final InFlight inFlight = ring[slot];
      if (inFlight.batch.deadlineNs() - System.nanoTime() <= 0) {
        timeOut(posting);
        return;
      }
      final int left = inFlight.batch.size() - inFlight.posted;
      final int count = Math.min(left, Math.min(sendCredits, poller.completionCredits()));
      if (count == 0) {
        if (sendCredits > 0 && !isStarved) {
          isStarved = true;
          poller.onStarved(this);
        }
        return;
      }
      final long firstId = WorkRequestId.pack(index, generation, slot, inFlight.posted);
      final int result =
          poller.post(queuePair.handle(), inFlight.batch, inFlight.posted, count, firstId);
      sendCredits -= count;
      inFlight.posted += count;
      if (result < 0) {
        culprit = posting;
        breakWith(readFailed(inFlight.batch, VerbsExt.describe("ibv_post_send", result)));
        return;
      }
      if (inFlight.posted == inFlight.batch.size()) {
        posting++;
      }
    }
  }

  void unmarkStarved() {
    isStarved = false;
  }

  /** The reads of a slot up to and including {@code read} are complete. */
  void onComplete(int slot, int read) {
    if (slot != ((int) head & mask)) {
      breakWith(
          new TransportException(
              FailureKind.READ_FAILED,
              "completion out of order from " + description() + ": slot=" + slot));
      return;
    }
    final InFlight inFlight = ring[slot];
    final int newlyComplete = read + 1 - inFlight.completed;
    inFlight.completed += newlyComplete;
    sendCredits += newlyComplete;
    poller.returnCompletionCredits(newlyComplete);
    if (inFlight.completed == inFlight.batch.size()) {
      final ReadBatch batch = inFlight.batch;
      final ReadListener listener = takeHead(inFlight);
      transport.counters().readsCompleted.add(batch.size());
      transport.counters().bytesRead.add(batch.totalBytes());
      try {
        listener.onComplete(batch);
      } catch (RuntimeException | Error e) {
        LOG.error("a read listener threw", e);
      }
    }
    if (posting != tailNow()) {
      post();
    }
  }

  /** A read failed; what is behind it on the queue pair will be flushed. */
  void onError(int slot, int read, int status, int vendorError) {
    final InFlight inFlight = ring[slot];
    final String reason =
        VerbsExt.statusText(status)
            + " (status "
            + status
            + ", vendor error 0x"
            + Integer.toHexString(vendorError)
            + ", read "
            + (read + 1)
            + ")";
    if (inFlight.batch != null && !mustBreak()) {
      breakWith(readFailed(inFlight.batch, reason));
    }
  }

  /** Looks for a batch whose time is up; answers the nearest deadline, or {@code nearest}. */
  long checkDeadlines(long nowNs, long nearestNs) {
    long nearest = nearestNs;
    for (long at = head, end = tailNow(); at != end; at++) {
      final ReadBatch batch = ring[(int) at & mask].batch;
      final long leftNs = batch.deadlineNs() - nowNs;
      if (leftNs <= 0) {
        timeOut(at);
        return nearest;
      }
      nearest = Math.min(nearest, leftNs);
    }
    return nearest;
  }

  private void timeOut(long at) {
    if (mustBreak()) {
      return;
    }
    culprit = at;
    final ReadBatch batch = ring[(int) at & mask].batch;
    breakWith(
        new TransportException(
            FailureKind.READ_TIMEOUT,
            batch.size()
                + " reads of "
                + batch.totalBytes()
                + " bytes from "
                + description()
                + " did not complete before their deadline"));
  }

  /** Destroys the queue pair: afterwards the device writes nothing for us any more. */
  void retireQueuePair() {
    queuePair.destroy();
  }

  /** Work requests that were posted and not seen complete. */
  int lostCredits() {
    return depth - sendCredits;
  }

  /** Fails all that is outstanding; the queue pair is gone. */
  void failOutstanding() {
    final TransportException cause = breakCause.get();
    final boolean isClose = cause.kind() == FailureKind.CLOSED;
    final TransportException closed = isClose ? cause : closedException();
    final long lastHit = isClose ? -1 : Math.max(culprit, head);
    for (long end = tailNow(); head != end; ) {
      final boolean isHit = head <= lastHit;
      final InFlight inFlight = ring[(int) head & mask];
      final ReadBatch batch = inFlight.batch;
      final ReadListener listener = takeHead(inFlight);
      fail(batch, listener, isHit ? cause : closed);
    }
    if (LOG.isDebugEnabled()) {
      LOG.debug("closed: {}", cause.getMessage());
    }
  }

  private ReadListener takeHead(InFlight inFlight) {
    final ReadListener listener = inFlight.listener;
    final int reads = inFlight.batch.size();
    inFlight.clear();
    synchronized (lock) {
      head++;
      outstandingReads -= reads;
    }
    return listener;
  }

  private long tailNow() {
    synchronized (lock) {
      return tail;
    }
  }

  private TransportException readFailed(ReadBatch batch, String reason) {
    return new TransportException(
        FailureKind.READ_FAILED,
        "RDMA READ of "
            + batch.size()
            + " pieces, "
            + batch.totalBytes()
            + " bytes from "
            + description()
            + " through "
            + transport.device()
            + " failed: "
            + reason);
  }

  private void fail(ReadBatch batch, ReadListener listener, TransportException failure) {
    transport.counters().batchesFailed.increment();
    try {
      listener.onFailure(batch, failure);
    } catch (RuntimeException | Error e) {
      LOG.error("a read listener threw", e);
    }
  }

  @Override
  public String toString() {
    return "RDMA connection to " + description();
  }
}
