package io.rdmashuffle.spark.tier;

import io.rdmashuffle.transport.Deadline;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Work on bytes that one thread does in the background, with a bound on the bytes that wait for it.
 * The thread starts with the first work, and ends when it has been idle for a while. Used by
 * several threads.
 */
final class WriteBehind {
  private static final Logger LOG = LoggerFactory.getLogger(WriteBehind.class);

  private static final long IDLE_NS = TimeUnit.SECONDS.toNanos(10);

  private record Job(long bytes, Runnable work) {}

  private final String threadName;
  private final long maxBytes;
  private final long waitNs;

  // Guarded by this.
  private final ArrayDeque<Job> queue = new ArrayDeque<>();
  private long pendingBytes;
  private Thread thread;
  private boolean isClosed;

  /**
   * @param maxBytes most bytes of work that wait or are being worked on
   * @param waitNs how long {@link #offer} waits for room
   */
  WriteBehind(String threadName, long maxBytes, long waitNs) {
    this.threadName = threadName;
    this.maxBytes = maxBytes;
    this.waitNs = waitNs;
  }

  /**
   * Hands work over. Waits a bounded time for room; a thread that is interrupted does not wait.
   *
   * @param work deals with its failures; what it throws is logged
   * @return false when there is still no room, or this is closed: the caller does the work itself
   */
  synchronized boolean offer(long bytes, Runnable work) {
    if (bytes > maxBytes || !awaitRoom(bytes)) {
      return false;
    }
    add(new Job(bytes, work));
    return true;
  }

  /**
   * As {@link #offer}, without waiting, and whatever its size where there is no other work: for
   * work that nobody would do otherwise.
   */
  synchronized boolean offerNow(long bytes, Runnable work) {
    if (isClosed || (pendingBytes > 0 && pendingBytes + bytes > maxBytes)) {
      return false;
    }
    add(new Job(bytes, work));
    return true;
  }

  private void add(Job job) {
    queue.addLast(job);
    pendingBytes += job.bytes;
    if (thread == null) {
      thread = new Thread(this::run, threadName);
      thread.setDaemon(true);
      thread.start();
    }
    notifyAll();
  }

  private boolean awaitRoom(long bytes) {
    Deadline deadline = Deadline.after(Duration.ofNanos(waitNs));
    while (!isClosed && pendingBytes + bytes > maxBytes) {
      long remainingMs = deadline.remainingMs();
      if (remainingMs == 0) {
        return false;
      }
      try {
        wait(remainingMs);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return false;
      }
    }
    return !isClosed;
  }

  private void run() {
    try {
      Job job = next();
      while (job != null) {
        work(job);
        job = next();
      }
    } finally {
      onThreadEnd();
    }
  }

  private void work(Job job) {
    try {
      job.work.run();
    } catch (RuntimeException e) {
      LOG.error("work of {} failed", threadName, e);
    } finally {
      end(job);
    }
  }

  /** The next job; null when the thread is to end. */
  private synchronized Job next() {
    long idleSinceNs = System.nanoTime();
    while (queue.isEmpty()) {
      long leftNs = IDLE_NS - (System.nanoTime() - idleSinceNs);
      if (isClosed || leftNs <= 0) {
        onThreadEnd();
        return null;
      }
      try {
        TimeUnit.NANOSECONDS.timedWait(this, leftNs);
      } catch (InterruptedException e) {
        queue.clear(); // only close() interrupts, when its deadline has passed
      }
    }
    return queue.pollFirst();
  }

  /** In one step with the decision to end, so that no work is left to a thread that goes. */
  private synchronized void onThreadEnd() {
    if (thread == Thread.currentThread()) {
      thread = null;
      notifyAll();
    }
  }

  private synchronized void end(Job job) {
    pendingBytes -= job.bytes;
    notifyAll();
  }

  /** Bytes that wait or are being worked on. */
  synchronized long pendingBytes() {
    return pendingBytes;
  }

  /**
   * Takes no more work, and waits until what was taken is done and the thread has ended.
   *
   * @return bytes of work that were dropped because the deadline passed
   */
  synchronized long close(Deadline deadline) {
    isClosed = true;
    notifyAll();
    while (thread != null && deadline.remainingMs() > 0) {
      try {
        wait(deadline.remainingMs());
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        break;
      }
    }
    long dropped = pendingBytes;
    queue.clear();
    if (thread != null) {
      thread.interrupt();
    }
    return dropped;
  }
}
