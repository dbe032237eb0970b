package io.rdmashuffle.store;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/** Stands still until it is advanced; starts shortly before nanoTime overflows. */
final class FakeClock implements LongSupplier {
  private final AtomicLong nowNs = new AtomicLong(Long.MAX_VALUE - 1000);

  @Override
  public long getAsLong() {
    return nowNs.get();
  }

  void advance(Duration by) {
    nowNs.addAndGet(by.toNanos());
  }
}
