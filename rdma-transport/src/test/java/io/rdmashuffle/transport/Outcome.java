package io.rdmashuffle.transport;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/** A listener that remembers how a batch ended, and how often it was told so. */
public class Outcome implements ReadListener {
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  private final AtomicInteger calls = new AtomicInteger();
  private volatile TransportException failure;
  private volatile boolean isDone;

  @Override
  public void onComplete(ReadBatch batch) {
    calls.incrementAndGet();
    isDone = true;
  }

  @Override
  public void onFailure(ReadBatch batch, TransportException failure) {
    this.failure = failure;
    calls.incrementAndGet();
    isDone = true;
  }

  /** Forgets, so that the listener can be used for another batch. */
  public void reset() {
    failure = null;
    isDone = false;
    calls.set(0);
  }

  public boolean isDone() {
    return isDone;
  }

  /** How often the listener was called; right is once. */
  public int calls() {
    return calls.get();
  }

  /** Waits without allocating; the failure, or null after a success. */
  public TransportException await() {
    long deadlineNs = System.nanoTime() + PATIENCE.toNanos();
    while (!isDone) {
      if (deadlineNs - System.nanoTime() < 0) {
        throw new AssertionError("the listener was not called within " + PATIENCE);
      }
      LockSupport.parkNanos(10_000);
    }
    return failure;
  }

  /** Waits; the kind of the failure, or null after a success. */
  public FailureKind awaitKind() {
    TransportException ended = await();
    return ended == null ? null : ended.kind();
  }
}
