package io.rdmashuffle.transport;

import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicBoolean;

/** An owner that rewrites its memory over and over: void, data, generation. */
final class GenerationWriter implements Runnable {
  private final ByteBuffer buffer;
  private final int offset;
  private final int length;
  private final AtomicBoolean isOver;
  private volatile long generation;

  /**
   * @param offset of the generation, 8 bytes; the data follows
   * @param length of the data, in bytes
   */
  GenerationWriter(ByteBuffer buffer, int offset, int length, AtomicBoolean isOver) {
    this.buffer = buffer;
    this.offset = offset;
    this.length = length;
    this.isOver = isOver;
    buffer.putLong(offset, 0);
  }

  long generation() {
    return generation;
  }

  @Override
  public void run() {
    long current = 0;
    while (!isOver.get()) {
      current++;
      buffer.putLong(offset, 0);
      VarHandle.fullFence();
      for (int i = offset + 8; i < offset + 8 + length; i += 8) {
        buffer.putLong(i, current);
      }
      VarHandle.fullFence();
      buffer.putLong(offset, current);
      generation = current;
      pause();
    }
  }

  /** Long enough for some reads to find a generation whole, short enough for others not to. */
  private static void pause() {
    long endNs = System.nanoTime() + 30_000;
    while (System.nanoTime() - endNs < 0) {
      Thread.onSpinWait();
    }
  }
}
