package io.rdmashuffle.spark.directory;

import java.util.concurrent.atomic.AtomicLong;

/** Bytes of heap that may still be taken, as estimated by those who take them. Thread-safe. */
final class HeapBudget {
  private final long limitBytes;
  private final AtomicLong usedBytes = new AtomicLong();

  HeapBudget(long limitBytes) {
    this.limitBytes = limitBytes;
  }

  /** Takes the bytes if they fit. */
  boolean tryReserve(long bytes) {
    long used = usedBytes.get();
    while (bytes <= limitBytes - used) {
      if (usedBytes.compareAndSet(used, used + bytes)) {
        return true;
      }
      used = usedBytes.get();
    }
    return false;
  }

  void release(long bytes) {
    usedBytes.addAndGet(-bytes);
  }

  long usedBytes() {
    return usedBytes.get();
  }

  long limitBytes() {
    return limitBytes;
  }
}
