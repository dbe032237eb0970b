package io.rdmashuffle.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class DeadlineTest {
  @Test
  void countsDown() {
    Deadline deadline = Deadline.after(Duration.ofMinutes(1));
    assertFalse(deadline.isOver());
    long leftNs = deadline.remainingNs();
    assertTrue(leftNs > TimeUnit.SECONDS.toNanos(50) && leftNs <= TimeUnit.MINUTES.toNanos(1));
    assertTrue(deadline.remainingNs() <= leftNs);
  }

  @Test
  void nothingRemainsOfAPastDeadline() {
    Deadline deadline = new Deadline(System.nanoTime() - 1);
    assertTrue(deadline.isOver());
    assertEquals(0, deadline.remainingNs());
    assertEquals(0, deadline.remainingMs());
  }

  @Test
  void millisecondsAreRoundedUp() {
    Deadline deadline = new Deadline(System.nanoTime() + TimeUnit.SECONDS.toNanos(10) + 1);
    long leftMs = deadline.remainingMs();
    assertTrue(TimeUnit.MILLISECONDS.toNanos(leftMs) >= deadline.remainingNs());
    assertTrue(leftMs <= 10_001);
  }
}
