package io.rdmashuffle.spark;

import io.rdmashuffle.store.ReceivePool;
import io.rdmashuffle.transport.Deadline;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The plugin's threads in an executor beside those of the transports: all daemons, all named {@code
 * rdma-…}. One drives deadlines, one goes on with requests that waited for memory, and a few, which
 * come and go, start TCP fetches on behalf of threads that must not wait for a connection, or copy
 * large blocks to files.
 */
final class RuntimeThreads {
  private static final Logger LOG = LoggerFactory.getLogger(RuntimeThreads.class);

  private static final Duration TICK = Duration.ofMillis(100);
  private static final int MAX_FALLBACK_THREADS = 8;
  private static final int MAX_FILE_THREADS = 4;
  private static final long IDLE_SECONDS = 10;

  private final ScheduledThreadPoolExecutor timer;
  private final ThreadPoolExecutor continuations;
  private final ThreadPoolExecutor fallbacks;
  private final ThreadPoolExecutor fileReads;

  RuntimeThreads(ReceivePool receivePool) {
    timer = new ScheduledThreadPoolExecutor(1, daemons("rdma-timer"));
    timer.setRemoveOnCancelPolicy(true);
    every(TICK, () -> receivePool.expireWaiters(System.nanoTime()));
    continuations = pool(1, "rdma-fetch");
    fallbacks = pool(MAX_FALLBACK_THREADS, "rdma-fallback");
    fileReads = pool(MAX_FILE_THREADS, "rdma-file");
  }

  private static ThreadPoolExecutor pool(int threads, String name) {
    ThreadPoolExecutor pool =
        new ThreadPoolExecutor(
            threads,
            threads,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            daemons(name));
    pool.allowCoreThreadTimeOut(true);
    return pool;
  }

  private static ThreadFactory daemons(String name) {
    AtomicInteger count = new AtomicInteger();
    return task -> {
      Thread thread = new Thread(task, name + "-" + count.getAndIncrement());
      thread.setDaemon(true);
      return thread;
    };
  }

  /** Has the timer do something short again and again, until it is closed. */
  final void every(Duration interval, Runnable task) {
    long ns = interval.toNanos();
    ScheduledFuture<?> unused =
        timer.scheduleWithFixedDelay(() -> guarded(task, interval), ns, ns, TimeUnit.NANOSECONDS);
  }

  /** The timer would drop what throws, and nobody who waits would hear of a deadline any more. */
  private static void guarded(Runnable task, Duration interval) {
    try {
      task.run();
    } catch (RuntimeException | Error e) {
      LOG.error("work of the timer failed and is done again in {} ms", interval.toMillis(), e);
    }
  }

  /** Runs short work that would burden the thread it came up on. */
  Executor continuations() {
    return continuations;
  }

  /** Runs TCP fetches, which may wait for a connection. */
  Executor fallbacks() {
    return fallbacks;
  }

  /** Runs reads into files, which wait for the reads and for the disk. */
  Executor fileReads() {
    return fileReads;
  }

  /** Ends all threads; those still at work when the deadline passes are interrupted. */
  void close(Deadline deadline) {
    timer.shutdownNow();
    for (ThreadPoolExecutor pool : new ThreadPoolExecutor[] {fileReads, continuations, fallbacks}) {
      pool.shutdown();
      try {
        if (!pool.awaitTermination(deadline.remainingMs(), TimeUnit.MILLISECONDS)) {
          pool.shutdownNow();
        }
      } catch (InterruptedException e) {
        pool.shutdownNow();
        Thread.currentThread().interrupt();
      }
    }
  }
}
