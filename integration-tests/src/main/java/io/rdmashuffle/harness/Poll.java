package io.rdmashuffle.harness;

import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** Waits for what happens in other processes. */
public final class Poll {
  private static final long INTERVAL_MS = 20;

  private Poll() {}

  /** Returns as soon as the condition holds; fails when it does not in time. */
  public static void until(String complaint, long time, TimeUnit unit, BooleanSupplier condition) {
    long deadline = System.nanoTime() + unit.toNanos(time);
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() > deadline) {
        throw new IllegalStateException(complaint + " after " + time + " " + unit);
      }
      try {
        TimeUnit.MILLISECONDS.sleep(INTERVAL_MS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException(complaint + " when interrupted", e);
      }
    }
  }
}
