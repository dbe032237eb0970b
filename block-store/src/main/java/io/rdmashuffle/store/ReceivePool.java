package io.rdmashuffle.store;

import io.rdmashuffle.transport.Deadline;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Buffers for reads of our own, within the budget of a slab pool whose slabs are registered for
 * local writes. Whoever must wait is served in order of arrival: a small request never overtakes a
 * large one, so none starves.
 *
 * <p>All methods may be called from any thread. {@linkplain ReceiveBuffer#release() Releasing}
 * never waits.
 */
public final class ReceivePool implements AutoCloseable {
  /** Told how a request that may have to wait ended: one call of one method, never blocking. */
  public interface Waiter {
    /**
     * The buffer is the callee's, who releases it. Called on the thread that asked, that released
     * memory, or that drives deadlines.
     */
    void onBuffer(ReceiveBuffer buffer);

    /** There was no memory before the deadline, or the pool was closed. */
    void onExpired();
  }

  private record Request(long bytes, long deadlineNs, Waiter waiter) {}

  private static final Logger LOG = LoggerFactory.getLogger(ReceivePool.class);

  /** A buffer is not made of runs shorter than this: each costs a read. */
  static final int SMALLEST_RUN = 64 << 10;

  private final SlabPool pool;
  private final AtomicInteger serveCalls = new AtomicInteger();

  // Guarded by lock, which is held while extents are gathered so that two requests do not keep
  // each other from completing.
  private final Object lock = new Object();
  private final ArrayDeque<Request> requests = new ArrayDeque<>();
  private boolean isClosed;

  /**
   * @param pool without quarantine, registered with {@link
   *     io.rdmashuffle.transport.Access#LOCAL_WRITE}; owned and closed by the receive pool
   */
  public ReceivePool(SlabPool pool) {
    this.pool = pool;
  }

  /** The pool buffers lie in, for its gauges. */
  public SlabPool pool() {
    return pool;
  }

  /** Bytes of the largest buffer there can ever be. */
  public long maxBufferLength() {
    return pool.capacityBytes();
  }

  /**
   * A buffer, if there is memory and nobody waits for it. May create slabs.
   *
   * @param bytes at least 1
   * @return null when there is none now
   */
  public ReceiveBuffer tryAllocate(long bytes) {
    checkBytes(bytes);
    while (true) {
      long slabsSeen = pool.slabsAdded();
      synchronized (lock) {
        if (isClosed || !requests.isEmpty()) {
          return null;
        }
        ReceiveBuffer buffer = gather(bytes);
        if (buffer != null) {
          return buffer;
        }
      }
      if (bytes > maxBufferLength() || !pool.addSlab(slabsSeen)) {
        return null;
      }
    }
  }

  /**
   * Asks for a buffer and stands in line for it; the call itself waits for no more than the
   * creation of slabs. {@link #expireWaiters} ends the wait.
   *
   * @param bytes at least 1
   * @param deadline after which the buffer is of no use
   * @return false when the request cannot be met: it exceeds {@link #maxBufferLength()}, or all the
   *     memory there is while no slab more can be had, or the pool is closed; then the waiter is
   *     not called
   */
  public boolean allocate(long bytes, Deadline deadline, Waiter waiter) {
    checkBytes(bytes);
    Objects.requireNonNull(waiter, "waiter");
    if (bytes > maxBufferLength()) {
      return false;
    }
    Request request = new Request(bytes, deadline.deadlineNs(), waiter);
    synchronized (lock) {
      if (isClosed) {
        return false;
      }
      requests.addLast(request);
    }
    long slabsSeen;
    do {
      slabsSeen = pool.slabsAdded();
      serve();
    } while (isWaiting(request) && pool.addSlab(slabsSeen));
    return !(exceedsSlabs(bytes) && withdraw(request));
  }

  /**
   * Ends the waits whose deadline passed. To be called from time to time by a thread that drives
   * deadlines.
   *
   * @param nowNs on the clock of {@link System#nanoTime()}
   * @return number of waits ended
   */
  public int expireWaiters(long nowNs) {
    List<Request> expired = new ArrayList<>();
    synchronized (lock) {
      Iterator<Request> all = requests.iterator();
      while (all.hasNext()) {
        Request request = all.next();
        if (request.deadlineNs - nowNs <= 0) {
          all.remove();
          expired.add(request);
        }
      }
    }
    expired.forEach(ReceivePool::expire);
    if (!expired.isEmpty()) {
      // One that asked for much may have held up those behind it.
      serve();
    }
    return expired.size();
  }

  /** Number of requests that wait. */
  public int waiterCount() {
    synchronized (lock) {
      return requests.size();
    }
  }

  /**
   * Ends every wait and closes the slab pool; slabs of buffers not yet released stay mapped until
   * they are. Idempotent.
   */
  @Override
  public void close() {
    List<Request> expired;
    synchronized (lock) {
      isClosed = true;
      expired = List.copyOf(requests);
      requests.clear();
    }
    expired.forEach(ReceivePool::expire);
    pool.close();
  }

  private boolean isWaiting(Request request) {
    synchronized (lock) {
      return requests.contains(request);
    }
  }

  /** Whether so many bytes would not be there if all that is lent came back. */
  private boolean exceedsSlabs(long bytes) {
    SlabPoolGauges gauges = pool.gauges();
    return bytes > gauges.freeBytes() + gauges.allocatedBytes();
  }

  /** Ends a wait without a call; false when it has ended before. */
  private boolean withdraw(Request request) {
    synchronized (lock) {
      return requests.remove(request);
    }
  }

  void takeBack(Extent[] extents) {
    for (Extent extent : extents) {
      pool.free(extent);
    }
    serve();
  }

  /**
   * Gives memory to those in line, from slabs that exist. One thread serves at a time and does the
   * work of those that come meanwhile, so that a waiter that releases at once does not recurse.
   */
  private void serve() {
    if (serveCalls.getAndIncrement() != 0) {
      return;
    }
    int calls = 1;
    try {
      do {
        serveOnce();
        calls = serveCalls.addAndGet(-calls);
      } while (calls != 0);
    } finally {
      if (calls != 0) {
        serveCalls.set(0); // else nobody would be served any more
      }
    }
  }

  private void serveOnce() {
    while (true) {
      Request request;
      ReceiveBuffer buffer;
      synchronized (lock) {
        request = requests.peekFirst();
        buffer = request == null ? null : gather(request.bytes);
        if (buffer == null) {
          return;
        }
        requests.removeFirst();
      }
      hand(buffer, request.waiter);
    }
  }

  /** One run if there is one, or else several; all or nothing. */
  private ReceiveBuffer gather(long bytes) {
    Extent whole = pool.tryAllocate(bytes, bytes);
    if (whole != null) {
      return new ReceiveBuffer(this, List.of(whole), bytes);
    }
    if (pool.gauges().freeBytes() < bytes) {
      return null;
    }
    List<Extent> gathered = new ArrayList<>();
    long left = bytes;
    while (left > 0) {
      Extent extent = pool.tryAllocate(Math.min(left, SMALLEST_RUN), left);
      if (extent == null) {
        gathered.forEach(pool::free);
        return null;
      }
      gathered.add(extent);
      left -= extent.length();
    }
    return new ReceiveBuffer(this, gathered, bytes);
  }

  private static void hand(ReceiveBuffer buffer, Waiter waiter) {
    try {
      waiter.onBuffer(buffer);
    } catch (RuntimeException | Error e) {
      LOG.error("A waiter failed to take its buffer; the buffer is lost unless it released it", e);
    }
  }

  private static void expire(Request request) {
    try {
      request.waiter.onExpired();
    } catch (RuntimeException | Error e) {
      LOG.error("A waiter failed to take note of its expiry", e);
    }
  }

  private static void checkBytes(long bytes) {
    if (bytes < 1) {
      throw new IllegalArgumentException("bytes=" + bytes + " < 1");
    }
  }
}
