package io.rdmashuffle.transport;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A connection of a {@link FaultyTransport}.
 *
 * <p>How it works: every batch accepted gets an entry in a queue, and leaves it in order, once its
 * end is known. Batches without a fault go to the delegate at once. From the first batch on that is
 * to fail, none does any more: they fail when their turn comes, as a queue pair in error flushes
 * what is posted behind. Listeners are called without the lock, by one thread at a time.
 */
final class FaultyConnection implements Connection {
  private final FaultyTransport transport;
  private final Connection delegate;
  private final AtomicBoolean isClosed = new AtomicBoolean();
  private final ReentrantLock lock = new ReentrantLock();

  // Guarded by the lock.
  private final ArrayDeque<Entry> entries = new ArrayDeque<>();
  private boolean isDoomed;
  private Entry refused;

  /** Set under the lock, cleared by the thread that set it, which then looks once more. */
  private volatile boolean isDelivering;

  private volatile boolean isBroken;

  FaultyConnection(FaultyTransport transport, Connection delegate) {
    this.transport = transport;
    this.delegate = delegate;
  }

  @Override
  public PeerIdentity peer() {
    return delegate.peer();
  }

  @Override
  public boolean isOpen() {
    return !isBroken && delegate.isOpen();
  }

  @Override
  public boolean offer(ReadBatch batch, ReadListener listener) {
    requireAcceptable(batch);
    lock.lock();
    try {
      if (!accept(entryFor(batch, listener))) {
        return false;
      }
    } finally {
      lock.unlock();
    }
    deliver();
    return true;
  }

  @Override
  public void close() {
    if (!isClosed.compareAndSet(false, true)) {
      return;
    }
    delegate.close();
    transport.onConnectionClosed(this);
    deliver();
  }

  private void requireAcceptable(ReadBatch batch) {
    if (batch.size() == 0 || batch.size() > transport.maxBatchSize()) {
      throw new IllegalArgumentException(
          "batch size=" + batch.size() + ", expected 1 to " + transport.maxBatchSize());
    }
  }

  /** A batch that was refused and is offered again keeps its fault. */
  private Entry entryFor(ReadBatch batch, ReadListener listener) {
    Entry entry = new Entry(batch, listener);
    if (isDoomed) {
      entry.isFlush = true;
    } else if (refused != null && refused.batch == batch) {
      entry.fault = refused.fault;
      entry.faultIndex = refused.faultIndex;
    } else if (isOpen()) {
      entry.drawFault();
    }
    refused = null;
    return entry;
  }

  private boolean accept(Entry entry) {
    entries.addLast(entry);
    if (!entry.goesThrough()) {
      isDoomed = true;
      entry.isDone = true;
      return true;
    }
    boolean isAccepted = false;
    try {
      isAccepted = delegate.offer(entry.batch, entry);
    } finally {
      if (!isAccepted) {
        entries.removeLast();
        refused = entry;
      }
    }
    return isAccepted;
  }

  /** Ends the batches at the head of the queue whose end is known. */
  private void deliver() {
    if (lock.isHeldByCurrentThread()) {
      return; // called back from within an offer, which delivers when it has let go
    }
    for (Entry entry = takeReady(); entry != null; entry = takeReady()) {
      try {
        entry.end();
      } finally {
        isDelivering = false;
      }
    }
    if (isBroken) {
      delegate.close(); // what it still has of the batches behind is flushed
    }
  }

  private Entry takeReady() {
    lock.lock();
    try {
      Entry head = entries.peekFirst();
      if (isDelivering || head == null || !head.isReady()) {
        return null;
      }
      isDelivering = true;
      head.settle();
      return entries.removeFirst();
    } finally {
      lock.unlock();
    }
  }

  /** A batch on its way; the delegate's listener for it. */
  private final class Entry implements ReadListener {
    private final ReadBatch batch;
    private final ReadListener listener;

    // Guarded by the lock, until the entry has left the queue.
    private Fault fault = Fault.NONE;
    private int faultIndex;
    private boolean isFlush;
    private boolean isDone;
    private boolean isTimed;
    private boolean isTooLate;
    private long readyNs;
    private TransportException failure;

    Entry(ReadBatch batch, ReadListener listener) {
      this.batch = batch;
      this.listener = listener;
    }

    /** The first read that gets a fault decides. */
    void drawFault() {
      for (int i = 0; i < batch.size() && fault == Fault.NONE; i++) {
        fault = transport.faults().onRead(peer(), batch.remoteAddress(i), batch.length(i));
        faultIndex = i;
      }
    }

    boolean goesThrough() {
      return !isFlush && fault != Fault.ERROR && fault != Fault.MISSING;
    }

    @Override
    public void onComplete(ReadBatch completed) {
      onDone(null);
    }

    @Override
    public void onFailure(ReadBatch failed, TransportException cause) {
      onDone(cause);
    }

    private void onDone(TransportException cause) {
      lock.lock();
      try {
        failure = cause;
        isDone = true;
      } finally {
        lock.unlock();
      }
      deliver();
    }

    /** Asked at the head of the queue only; a fault that takes time begins to count here. */
    boolean isReady() {
      if (!isDone) {
        return false;
      }
      if (!isOpen() || isFlush || failure != null || !takesTime()) {
        return true;
      }
      long nowNs = System.nanoTime();
      if (!isTimed) {
        isTimed = true;
        long leftNs = batch.deadlineNs() - nowNs;
        isTooLate = fault == Fault.MISSING || leftNs <= transport.delay().toNanos();
        long waitNs = isTooLate ? leftNs : transport.delay().toNanos();
        readyNs = nowNs + waitNs;
        transport.schedule(FaultyConnection.this::deliver, waitNs);
      }
      return readyNs - nowNs <= 0;
    }

    private boolean takesTime() {
      return fault == Fault.LATE || fault == Fault.MISSING;
    }

    /** Decides how the batch ends, now that everything before it has ended. */
    void settle() {
      if (failure == null) {
        failure = injectedFailure();
        if (failure != null) {
          transport.counters().batchesFailed.increment();
        }
      }
      if (failure != null) {
        isBroken = true;
        isDoomed = true;
      }
    }

    private TransportException injectedFailure() {
      if (isFlush || !goesOn()) {
        return new TransportException(
            FailureKind.CLOSED, "the connection to " + peer() + " broke or was closed");
      }
      if (fault == Fault.ERROR) {
        return transport.injected(
            FailureKind.READ_FAILED, "read " + faultIndex + " of a batch from " + peer());
      }
      if (isTooLate) {
        return transport.injected(
            FailureKind.READ_TIMEOUT, "read " + faultIndex + " of a batch from " + peer());
      }
      return null;
    }

    /** Batches that were read before the delegate closed are delivered, held up ones are not. */
    private boolean goesOn() {
      return !isBroken && (!isClosed.get() || (!takesTime() && goesThrough()));
    }

    void end() {
      if (failure != null) {
        listener.onFailure(batch, failure);
        return;
      }
      if (fault == Fault.CORRUPT) {
        flipOneBit();
      }
      listener.onComplete(batch);
    }

    private void flipOneBit() {
      ByteBuffer memory = batch.localSlab(faultIndex).slab().buffer();
      int offset = batch.localOffset(faultIndex);
      memory.put(offset, (byte) (memory.get(offset) ^ 1));
    }
  }
}
