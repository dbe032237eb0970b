package io.rdmashuffle.transport;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Keeps whoever can make this process log from filling its log: admits one line in a while, and
 * counts those left out. Any thread may call.
 */
public final class LogLimit {
  private final long periodNs;
  private final LongSupplier nanoClock;

  // Guarded by this.
  private boolean isFirst = true;
  private long nextNs;
  private long leftOut;

  /**
   * Admits the first line at once.
   *
   * @param period least time between two lines
   */
  public LogLimit(Duration period) {
    this(period, System::nanoTime);
  }

  /**
   * As {@link #LogLimit(Duration)}, on another clock.
   *
   * @param nanoClock a clock like {@link System#nanoTime()}
   */
  public LogLimit(Duration period, LongSupplier nanoClock) {
    periodNs = period.toNanos();
    this.nanoClock = nanoClock;
  }

  /** Whether a line may be logged now: how many were left out before it, or -1 if it may not. */
  public synchronized long admit() {
    long nowNs = nanoClock.getAsLong();
    if (!isFirst && nowNs - nextNs < 0) {
      leftOut++;
      return -1;
    }
    isFirst = false;
    nextNs = nowNs + periodNs;
    long before = leftOut;
    leftOut = 0;
    return before;
  }
}
