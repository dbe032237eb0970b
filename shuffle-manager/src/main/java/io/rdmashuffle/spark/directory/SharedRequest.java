package io.rdmashuffle.spark.directory;

import java.util.concurrent.CompletableFuture;

/**
 * State of a question that many tasks may have at once and that goes out once: which request is in
 * flight, how many were begun and ended, and for how long a disappointing answer is believed.
 *
 * <p>A task that arrives while a request is in flight cannot rely on that one alone, since the
 * driver may have answered it before the task's map output was published. So a task waits for a
 * request that begins after it arrived, unless an earlier one brings what it needs.
 *
 * <p>Not thread-safe; guarded by the lock of its owner.
 */
final class SharedRequest {
  private final long negativeTtlNs;
  private CompletableFuture<Void> inFlight;
  private long begun;
  private long ended;
  private DirectoryException failure;
  private boolean negative;
  private long negativeUntilNs;

  SharedRequest(long negativeTtlNs) {
    this.negativeTtlNs = negativeTtlNs;
  }

  /** Number of the first request that begins after this call. */
  long ticket() {
    return begun + 1;
  }

  /** Whether that request has ended. */
  boolean isOver(long ticket) {
    return ended >= ticket;
  }

  /** The request in flight, or null. */
  CompletableFuture<Void> inFlight() {
    return inFlight;
  }

  /** Begins a request while none is in flight. */
  CompletableFuture<Void> begin() {
    inFlight = new CompletableFuture<>();
    begun++;
    return inFlight;
  }

  /**
   * Ends a request, unless it was ended before. Its future is to be completed afterwards, once the
   * owner's lock is free.
   *
   * @param request what {@link #begin} returned
   * @param outcome null when it was answered
   */
  void end(CompletableFuture<Void> request, DirectoryException outcome) {
    if (request != null && request == inFlight) {
      inFlight = null;
      ended = begun;
      failure = outcome;
      negative = false;
      if (outcome != null) {
        believeNegative();
      }
    }
  }

  /** From now on, for a short while, nobody asks again. */
  void believeNegative() {
    negative = true;
    negativeUntilNs = System.nanoTime() + negativeTtlNs;
  }

  /** Something new came to light, so asking again may help. */
  void doubtNegative() {
    negative = false;
  }

  boolean isNegative() {
    if (negative && negativeUntilNs - System.nanoTime() <= 0) {
      negative = false;
    }
    return negative;
  }

  /** Throws why the last request failed; returns when it did not. */
  void throwIfFailed() throws DirectoryException {
    if (failure != null) {
      throw Answers.again(failure);
    }
  }
}
