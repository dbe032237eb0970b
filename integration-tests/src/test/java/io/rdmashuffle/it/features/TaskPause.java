package io.rdmashuffle.it.features;

import java.util.concurrent.TimeUnit;

/** A task that takes its time. */
final class TaskPause {
  private TaskPause() {}

  /** Pauses without heeding that the task is killed meanwhile. */
  static void heedless(long millis) {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    while (System.nanoTime() < end) {
      try {
        TimeUnit.NANOSECONDS.sleep(end - System.nanoTime());
      } catch (InterruptedException e) {
        // This is what it is not to heed.
      }
    }
  }
}
