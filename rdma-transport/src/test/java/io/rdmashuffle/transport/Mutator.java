package io.rdmashuffle.transport;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * Makes bad input of good: flips and replaces bytes and words, cuts, lengthens, moves and joins.
 * The same seed makes the same input. Not thread-safe.
 */
public final class Mutator {
  private static final long[] NASTY = {
    0,
    1,
    -1,
    7,
    8,
    39,
    40,
    127,
    128,
    255,
    256,
    4095,
    4096,
    0xffff,
    0x7fffffffL,
    0x80000000L,
    0xffffffffL,
    1L << 32,
    1L << 40,
    Long.MAX_VALUE,
    Long.MIN_VALUE
  };
  private static final int MOST_CHANGES = 4;
  private static final int MOST_ADDED = 64;

  private final List<byte[]> samples;
  private final Random random;

  /**
   * @param samples good input, at least one of at least a byte
   */
  public Mutator(List<byte[]> samples, Random random) {
    this.samples = samples;
    this.random = random;
  }

  /** A sample with one to a few changes. */
  public byte[] next() {
    byte[] bytes = sample().clone();
    for (int i = random.nextInt(MOST_CHANGES); i >= 0; i--) {
      bytes = change(bytes);
    }
    return bytes;
  }

  private byte[] sample() {
    return samples.get(random.nextInt(samples.size()));
  }

  private byte[] change(byte[] bytes) {
    if (bytes.length == 0) {
      return noise(1 + random.nextInt(MOST_ADDED));
    }
    int at = random.nextInt(bytes.length);
    switch (random.nextInt(9)) {
      case 0 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
      case 1 -> bytes[at] = (byte) random.nextInt();
      case 2 -> bytes[at] = (byte) 0xff; // goes on, where numbers are of variable length
      case 3, 4 -> putNastyNumber(bytes, at);
      case 5 -> {
        return Arrays.copyOf(bytes, random.nextInt(bytes.length));
      }
      case 6 -> {
        return join(bytes, noise(1 + random.nextInt(MOST_ADDED)), at);
      }
      case 7 -> {
        int length = Math.min(1 + random.nextInt(24), bytes.length - at);
        System.arraycopy(bytes, random.nextInt(bytes.length - length + 1), bytes, at, length);
      }
      default -> {
        byte[] other = sample();
        return join(Arrays.copyOf(bytes, at), other, at);
      }
    }
    return bytes;
  }

  /** A number where numbers are wont to be, of any width and in either order. */
  private void putNastyNumber(byte[] bytes, int at) {
    long value = NASTY[random.nextInt(NASTY.length)];
    int width = 1 << random.nextInt(4);
    int from = at / width * width;
    if (from + width > bytes.length) {
      return;
    }
    boolean isBig = random.nextBoolean();
    ByteBuffer number =
        ByteBuffer.allocate(Long.BYTES)
            .order(isBig ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN)
            .putLong(0, value);
    number.get(isBig ? Long.BYTES - width : 0, bytes, from, width);
  }

  private byte[] noise(int length) {
    byte[] noise = new byte[length];
    random.nextBytes(noise);
    return noise;
  }

  /** {@code bytes} with {@code added} put in. */
  private static byte[] join(byte[] bytes, byte[] added, int at) {
    byte[] joined = Arrays.copyOf(bytes, bytes.length + added.length);
    System.arraycopy(added, 0, joined, at, added.length);
    System.arraycopy(bytes, at, joined, at + added.length, bytes.length - at);
    return joined;
  }
}
