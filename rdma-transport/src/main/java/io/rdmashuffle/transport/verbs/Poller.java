package io.rdmashuffle.transport.verbs;

import io.rdmashuffle.transport.ReadBatch;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one thread that touches queue pairs and the completion queue of a device.
 *
 * <p>Its duty cycle: take connections with news, post their reads, poll completions, break
 * connections that failed, look at deadlines. With nothing to do it spins, then yields, then sleeps
 * on the completion channel and an eventfd. In steady state it allocates nothing.
 */
final class Poller implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(Poller.class);

  private static final int COMPLETION_LIMIT = 64;
  private static final long DEADLINE_CHECK_NS = TimeUnit.MILLISECONDS.toNanos(1);
  private static final long YIELD_NS = TimeUnit.MICROSECONDS.toNanos(50);
  private static final long LONGEST_SLEEP_NS = TimeUnit.SECONDS.toNanos(10);

  private final VerbsDevice device;
  private final long spinNs;
  private final long queue;
  private final long channel;
  private final int channelFd;
  private final int wakeFd;
  private final long chain;
  private final ByteBuffer reads;
  private final long readsAddress;
  private final ByteBuffer completions;
  private final long completionsAddress;

  private final AtomicReference<VerbsConnection> ready = new AtomicReference<>();
  private volatile boolean isSleeping;
  private volatile boolean isStopping;
  private volatile Thread thread;

  // Table of connections; slots are taken by any thread, given back by the poller.
  private final Object tableLock = new Object();
  private final AtomicReferenceArray<VerbsConnection> table;
  private final int[] generations; // guarded by tableLock
  private final int[] freeSlots; // guarded by tableLock
  private int freeCount; // guarded by tableLock
  private int usedSlots; // guarded by tableLock
  private boolean isClosedForNew; // guarded by tableLock
  private boolean isWakeFdClosed; // guarded by wakeLock
  private final Object wakeLock = new Object();

  // Owner: poller.
  private final ArrayDeque<VerbsConnection> starved = new ArrayDeque<>();
  private final List<VerbsConnection> breaking = new ArrayList<>();
  private int completionCredits;
  private long lastDeadlineCheckNs = System.nanoTime();
  private long nearestDeadlineNs = LONGEST_SLEEP_NS;
  private long idleSinceNs;
  private boolean isIdle;

  /**
   * @param maxConnections most connections at a time
   * @param maxBatch most reads of one batch
   */
  Poller(VerbsDevice device, long spinNs, int maxConnections, int maxBatch) throws IOException {
    this.device = device;
    this.spinNs = spinNs;
    queue = device.completionQueueHandle();
    channel = device.completionChannelHandle();
    channelFd = VerbsExt.check("completion channel", VerbsExt.compChannelFd(channel));
    completionCredits = device.completionEntries();
    int slots = Math.min(maxConnections, WorkRequestId.MAX_CONNECTIONS);
    table = new AtomicReferenceArray<>(slots);
    generations = new int[slots];
    freeSlots = new int[slots];
    reads = direct(maxBatch * VerbsExt.READ_LENGTH);
    readsAddress = VerbsExt.bufferAddress(reads);
    completions = direct(COMPLETION_LIMIT * VerbsExt.COMPLETION_LENGTH);
    completionsAddress = VerbsExt.bufferAddress(completions);
    chain = VerbsExt.check("work request chain", VerbsExt.createChain(maxBatch));
    int fd = VerbsExt.createEventFd();
    if (fd < 0) {
      VerbsExt.destroyChain(chain);
      throw new IOException(VerbsExt.describe("eventfd", fd));
    }
    wakeFd = fd;
  }

  private static ByteBuffer direct(int length) {
    return ByteBuffer.allocateDirect(length).order(ByteOrder.nativeOrder());
  }

  // Called by any thread.

  /** Takes over a connection; false when there are too many, or the poller stops. */
  boolean attach(VerbsConnection connection, QueuePair queuePair) {
    synchronized (tableLock) {
      int slot;
      if (isClosedForNew) {
        return false;
      } else if (freeCount > 0) {
        slot = freeSlots[--freeCount];
      } else if (usedSlots < table.length()) {
        slot = usedSlots++;
      } else {
        return false;
      }
      generations[slot] = (generations[slot] + 1) & WorkRequestId.GENERATION_MASK;
      connection.attach(queuePair, slot, generations[slot]);
      table.set(slot, connection);
      return true;
    }
  }

  /** Has the poller look at a connection. Never blocks, never allocates. */
  void schedule(VerbsConnection connection) {
    if (connection.markScheduled()) {
      VerbsConnection first;
      do {
        first = ready.get();
        connection.nextReady = first;
      } while (!ready.compareAndSet(first, connection));
    }
    if (isSleeping) {
      wake();
    }
  }

  /** Breaks every connection and ends the thread. */
  void stop() {
    synchronized (tableLock) {
      isClosedForNew = true;
    }
    isStopping = true;
    wake();
  }

  boolean isPollerThread() {
    return Thread.currentThread() == thread;
  }

  /** Frees what the thread used; only after it has ended. */
  void close() {
    synchronized (wakeLock) {
      if (!isWakeFdClosed) {
        isWakeFdClosed = true;
        VerbsExt.closeFd(wakeFd);
        VerbsExt.destroyChain(chain);
      }
    }
  }

  private void wake() {
    synchronized (wakeLock) {
      if (!isWakeFdClosed) {
        VerbsExt.signal(wakeFd);
      }
    }
  }

  // Called by connections, on the poller.

  int completionCredits() {
    return completionCredits;
  }

  void returnCompletionCredits(int count) {
    completionCredits += count;
  }

  void onStarved(VerbsConnection connection) {
    starved.add(connection);
  }

  /** Posts {@code count} reads of a batch with one doorbell; 0 or a negative errno. */
  int post(long queuePair, ReadBatch batch, int first, int count, long firstId) {
    for (int i = 0, at = 0; i < count; i++, at += VerbsExt.READ_LENGTH) {
      final VerbsSlab slab = (VerbsSlab) batch.localSlab(first + i);
      reads.putLong(at, batch.remoteAddress(first + i));
      reads.putLong(at + 8, slab.remoteAddress() + batch.localOffset(first + i));
      reads.putInt(at + 16, batch.length(first + i));
      reads.putInt(at + 20, batch.remoteKey(first + i));
      reads.putInt(at + 24, slab.localKey());
    }
    completionCredits -= count;
    return VerbsExt.postReads(queuePair, chain, readsAddress, count, firstId);
  }

  // The thread.

  @Override
  public void run() {
    thread = Thread.currentThread();
    while (!isStopping) {
      try {
        idle(doWork());
      } catch (RuntimeException | Error e) {
        // Nothing is known about what was lost, so nobody may wait for it.
        LOG.error("the RDMA poller failed, closing all of its connections", e);
        breakAll();
      }
    }
    breakAll();
  }

  private int doWork() {
    int work = takeReady();
    work += pollCompletions();
    work += feedStarved();
    checkDeadlines();
    return work + finishBreaking();
  }

  private int takeReady() {
    if (ready.get() == null) {
      return 0;
    }
    // The list is newest first: turn it round, so that nobody is served last for ever.
    VerbsConnection newest = ready.getAndSet(null);
    VerbsConnection oldest = null;
    while (newest != null) {
      final VerbsConnection next = newest.nextReady;
      newest.nextReady = oldest;
      oldest = newest;
      newest = next;
    }
    int count = 0;
    while (oldest != null) {
      final VerbsConnection connection = oldest;
      oldest = connection.nextReady;
      connection.nextReady = null;
      connection.unmarkScheduled(); // before looking: what comes later is scheduled anew
      if (connection.mustBreak()) {
        startBreaking(connection);
      } else {
        connection.post();
      }
      count++;
    }
    nearestDeadlineNs = Math.min(nearestDeadlineNs, DEADLINE_CHECK_NS);
    return count;
  }

  private int pollCompletions() {
    final int count = VerbsExt.pollCq(queue, COMPLETION_LIMIT, completionsAddress);
    if (count < 0) {
      onQueueLost(count);
      return 0;
    }
    for (int i = 0, at = 0; i < count; i++, at += VerbsExt.COMPLETION_LENGTH) {
      final long id = completions.getLong(at);
      final VerbsConnection connection = find(id);
      if (connection == null) {
        continue; // of a connection that is gone
      }
      final int status = completions.getInt(at + VerbsExt.COMPLETION_STATUS_OFFSET);
      if (status == 0) {
        connection.onComplete(WorkRequestId.slot(id), WorkRequestId.read(id));
      } else {
        final int vendorError = completions.getInt(at + VerbsExt.COMPLETION_VENDOR_ERROR_OFFSET);
        connection.onError(WorkRequestId.slot(id), WorkRequestId.read(id), status, vendorError);
      }
      if (connection.mustBreak()) {
        startBreaking(connection);
      }
    }
    return count;
  }

  /**
   * Nothing will be known to be complete any more, as when the device is gone: ends the thread,
   * which breaks every connection, rather than to fail at the next look again.
   */
  private void onQueueLost(int result) {
    if (!isStopping) {
      LOG.error(
          "{} cannot be used any more, peers are read over TCP: {}",
          device.candidate(),
          VerbsExt.describe("ibv_poll_cq", result));
      stop();
    }
  }

  private VerbsConnection find(long id) {
    final int index = WorkRequestId.connection(id);
    final VerbsConnection connection = index < table.length() ? table.get(index) : null;
    return connection != null && connection.generation() == WorkRequestId.generation(id)
        ? connection
        : null;
  }

  private int feedStarved() {
    int count = 0;
    while (completionCredits > 0 && !starved.isEmpty()) {
      final VerbsConnection connection = starved.poll();
      connection.unmarkStarved();
      connection.post();
      count++;
    }
    return count;
  }

  private void checkDeadlines() {
    final long nowNs = System.nanoTime();
    if (nowNs - lastDeadlineCheckNs < Math.min(nearestDeadlineNs, DEADLINE_CHECK_NS)) {
      return;
    }
    lastDeadlineCheckNs = nowNs;
    long nearest = LONGEST_SLEEP_NS;
    for (int i = 0, end = tableEnd(); i < end; i++) {
      final VerbsConnection connection = table.get(i);
      if (connection != null) {
        nearest = connection.checkDeadlines(nowNs, nearest);
        if (connection.mustBreak()) {
          startBreaking(connection);
        }
      }
    }
    nearestDeadlineNs = nearest;
  }

  private void startBreaking(VerbsConnection connection) {
    if (connection.startBreaking()) {
      breaking.add(connection);
    }
  }

  private int finishBreaking() {
    if (breaking.isEmpty()) {
      return 0;
    }
    drain(); // what did complete is complete
    int count = 0;
    for (; !breaking.isEmpty(); count++) { // may grow while it is worked through
      final VerbsConnection connection = breaking.remove(breaking.size() - 1);
      connection.retireQueuePair();
      detach(connection);
      drain(); // its flushes, so that they do not take room that is given back
      completionCredits += connection.lostCredits();
      connection.failOutstanding();
    }
    return count;
  }

  private void drain() {
    while (pollCompletions() > 0) {
      Thread.onSpinWait();
    }
  }

  private void detach(VerbsConnection connection) {
    starved.remove(connection);
    synchronized (tableLock) {
      table.set(connection.index(), null);
      freeSlots[freeCount++] = connection.index();
    }
  }

  private void breakAll() {
    for (int i = 0, end = tableEnd(); i < end; i++) {
      final VerbsConnection connection = table.get(i);
      if (connection != null) {
        connection.breakWith(connection.closedException());
        startBreaking(connection);
      }
    }
    finishBreaking();
  }

  private int tableEnd() {
    synchronized (tableLock) {
      return usedSlots;
    }
  }

  // To yield is the point: tasks may have the processor before the poller gives it up altogether.
  @SuppressWarnings("ThreadPriorityCheck")
  private void idle(int workCount) {
    if (workCount > 0) {
      isIdle = false;
      return;
    }
    final long nowNs = System.nanoTime();
    if (!isIdle) {
      isIdle = true;
      idleSinceNs = nowNs;
    }
    final long idleNs = nowNs - idleSinceNs;
    if (idleNs < spinNs) {
      Thread.onSpinWait();
    } else if (idleNs < spinNs + YIELD_NS) {
      Thread.yield();
    } else {
      sleep();
    }
  }

  private void sleep() {
    // Armed and announced before the last look, so that whatever comes after it wakes us.
    isSleeping = true;
    final int armed = VerbsExt.requestNotification(queue);
    if (armed == 0 && ready.get() == null && !isStopping && pollCompletions() == 0) {
      lastDeadlineCheckNs = System.nanoTime() - LONGEST_SLEEP_NS;
      checkDeadlines();
      if (breaking.isEmpty()) {
        final int timeoutMs = (int) TimeUnit.NANOSECONDS.toMillis(nearestDeadlineNs + 999_999);
        final int woken = VerbsExt.waitReadable(channelFd, wakeFd, -1, timeoutMs);
        if ((woken & 1) != 0) {
          VerbsExt.takeCqEvents(channel);
        }
        if ((woken & 2) != 0) {
          VerbsExt.clearSignal(wakeFd);
        }
      }
    }
    isSleeping = false;
    isIdle = false;
  }

  @Override
  public String toString() {
    return "poller of " + device.candidate();
  }
}
