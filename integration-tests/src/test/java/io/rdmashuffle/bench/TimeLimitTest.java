package io.rdmashuffle.bench;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class TimeLimitTest {
  private long nowNs = Long.MAX_VALUE - 5;

  @Test
  void eachPartHasItsShare() {
    TimeLimit limit = TimeLimit.of(3, () -> nowNs);
    assertFalse(limit.isPast(1, 3));
    nowNs += TimeUnit.SECONDS.toNanos(61);
    assertTrue(limit.isPast(1, 3));
    assertFalse(limit.isPast(2, 3));
    nowNs += TimeUnit.SECONDS.toNanos(120);
    assertTrue(limit.isPast(3, 3));
  }
}
