package io.rdmashuffle.spark.read;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Blocks that describe themselves: every word says which map output it is of, which partition, and
 * which word. A map task id is given to one output only, so it stands for the generation, too.
 */
final class TortureBlocks {
  static final int SHUFFLE_ID = 1;
  static final int PARTITIONS = 24;

  private static final int SHORT_WORDS = 120;
  private static final int LONG_WORDS = 4000;

  private TortureBlocks() {}

  /** Bytes of a block: some hundred, now and then some thousand. */
  static int length(long mapTaskId, int partition) {
    long hash = mix(mapTaskId * PARTITIONS + partition);
    int mostWords = (hash & 31) == 0 ? LONG_WORDS : SHORT_WORDS;
    return Long.BYTES * (1 + (int) ((hash >>> 8) % mostWords));
  }

  /** Writes a block, which fits. */
  static void fill(ByteBuffer out, long mapTaskId, int partition) {
    out.order(ByteOrder.LITTLE_ENDIAN);
    for (int i = length(mapTaskId, partition) / Long.BYTES; i > 0; i--) {
      out.putLong(word(mapTaskId, partition, i));
    }
  }

  /** Whether the bytes are those of the block, all of them and no others. */
  static boolean isRight(ByteBuffer bytes, long mapTaskId, int partition) {
    if (bytes.remaining() != length(mapTaskId, partition)) {
      return false;
    }
    ByteBuffer in = bytes.duplicate().order(ByteOrder.LITTLE_ENDIAN);
    for (int i = in.remaining() / Long.BYTES; i > 0; i--) {
      if (in.getLong() != word(mapTaskId, partition, i)) {
        return false;
      }
    }
    return true;
  }

  private static long word(long mapTaskId, int partition, int position) {
    return mix((mapTaskId << 24) + ((long) partition << 16) + position);
  }

  /** Spreads a number over all bits, differently for every number and not below 0. */
  private static long mix(long number) {
    long x = (number ^ SHUFFLE_ID) * 0x9E3779B97F4A7C15L;
    x = (x ^ x >>> 32) * 0xD6E8FEB86659FD93L;
    return (x ^ x >>> 32) & Long.MAX_VALUE;
  }
}
