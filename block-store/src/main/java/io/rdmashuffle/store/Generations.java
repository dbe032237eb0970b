package io.rdmashuffle.store;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.SecureRandom;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Makes generations, and writes them so that a peer that reads the memory sees things in order: the
 * output before its generation, the void before anything else that is written there later.
 */
final class Generations {
  static final long VOID = 0;

  private static final VarHandle LONGS =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  /**
   * Counts up from a random 64-bit number: unique within the process for certain, and within the
   * application with a probability of collision of about (processes squared) × outputs / 2^64.
   */
  private static final AtomicLong NEXT = new AtomicLong(new SecureRandom().nextLong());

  private Generations() {}

  static long next() {
    long generation = NEXT.getAndIncrement();
    return generation == VOID ? NEXT.getAndIncrement() : generation;
  }

  /**
   * @param position where the index block begins, a multiple of 8
   */
  static void publish(ByteBuffer slab, int position, long generation) {
    LONGS.setRelease(slab, position + IndexHeader.GENERATION_POSITION, generation);
    VarHandle.fullFence();
  }

  /** Nothing that the thread writes later can be seen before the void. */
  static void voidAt(ByteBuffer slab, int position) {
    LONGS.setRelease(slab, position + IndexHeader.GENERATION_POSITION, VOID);
    VarHandle.fullFence();
  }

  static long get(ByteBuffer slab, int position) {
    return (long) LONGS.getAcquire(slab, position + IndexHeader.GENERATION_POSITION);
  }
}
