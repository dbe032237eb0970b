package io.rdmashuffle.transport;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * A point on the clock of {@link System#nanoTime()} after which nobody waits any more. Comparisons
 * are safe against overflow of that clock.
 *
 * @param deadlineNs value of {@code System.nanoTime()} at which time is up
 */
public record Deadline(long deadlineNs) {
  /** The deadline that lies {@code timeout} from now. */
  public static Deadline after(Duration timeout) {
    return new Deadline(System.nanoTime() + timeout.toNanos());
  }

  /** Nanoseconds left, 0 when the time is up. */
  public long remainingNs() {
    return Math.max(0, deadlineNs - System.nanoTime());
  }

  /** Milliseconds left, rounded up so that a wait of that length does not end early. */
  public long remainingMs() {
    return TimeUnit.NANOSECONDS.toMillis(remainingNs() + 999_999);
  }

  /** Whether the time is up. */
  public boolean isOver() {
    return deadlineNs - System.nanoTime() <= 0;
  }
}
