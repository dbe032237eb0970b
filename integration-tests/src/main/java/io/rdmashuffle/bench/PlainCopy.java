package io.rdmashuffle.bench;

import java.nio.ByteBuffer;

/** What this machine's memory gives to one thread, for scale: copies of 1 MiB. */
final class PlainCopy {
  static final int COPY_BYTES = 1 << 20;

  /** Larger than caches, as the blocks are. */
  private static final int AREA_BYTES = 64 << 20;

  private final ByteBuffer from = ByteBuffer.allocateDirect(AREA_BYTES);
  private final ByteBuffer to = ByteBuffer.allocateDirect(AREA_BYTES);

  /** Copies for at least that long. */
  FetchSample run(double minSeconds) {
    long copies = 0;
    long beganNs = System.nanoTime();
    double elapsed;
    do {
      for (int at = 0; at < AREA_BYTES; at += COPY_BYTES) {
        to.put(at, from, at, COPY_BYTES);
        copies++;
      }
      elapsed = (System.nanoTime() - beganNs) / 1e9;
    } while (elapsed < minSeconds);
    long bytes = copies * COPY_BYTES;
    return new FetchSample(elapsed, copies, bytes, elapsed, 0, bytes, 0);
  }
}
