package io.rdmashuffle.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class LogLimitTest {
  /** Shortly before the clock overflows. */
  private final AtomicLong nowNs = new AtomicLong(Long.MAX_VALUE - 10);

  @Test
  void admitsOneLineInAPeriodAndCountsTheOthers() {
    LogLimit limit = new LogLimit(Duration.ofSeconds(1), nowNs::get);
    assertEquals(0, limit.admit());
    for (int i = 0; i < 10_000; i++) {
      assertEquals(-1, limit.admit());
    }
    nowNs.addAndGet(999_999_999);
    assertEquals(-1, limit.admit());
    nowNs.incrementAndGet();
    assertEquals(10_001, limit.admit());
    assertEquals(-1, limit.admit());
    nowNs.addAndGet(1_000_000_000);
    assertEquals(1, limit.admit());
  }
}
