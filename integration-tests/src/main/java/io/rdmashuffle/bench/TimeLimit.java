package io.rdmashuffle.bench;

import io.rdmashuffle.harness.Options;
import java.util.function.LongSupplier;

/** The time a benchmark may take; shared out evenly over equal parts of it. */
final class TimeLimit {
  private final LongSupplier nanoClock;
  private final long beganNs;
  private final long limitNs;

  private TimeLimit(double minutes, LongSupplier nanoClock) {
    this.nanoClock = nanoClock;
    beganNs = nanoClock.getAsLong();
    limitNs = (long) (minutes * 60e9);
  }

  /** From now on, as {@code --minutes} says. */
  static TimeLimit from(Options options, double byDefault) {
    return of(options.number("--minutes", byDefault), System::nanoTime);
  }

  static TimeLimit of(double minutes, LongSupplier nanoClock) {
    return new TimeLimit(minutes, nanoClock);
  }

  /**
   * Whether the share of a part has passed.
   *
   * @param part from 1 to {@code parts}
   */
  boolean isPast(int part, int parts) {
    return nanoClock.getAsLong() - beganNs >= limitNs / parts * part;
  }
}
