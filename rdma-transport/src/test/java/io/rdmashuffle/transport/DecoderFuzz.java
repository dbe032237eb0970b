package io.rdmashuffle.transport;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;

/**
 * Feeds a decoder mutated input: it may refuse it in the way it declares and in no other, and takes
 * no more heap than a bound. {@code -Dtest.seed} repeats a run whose seed was printed.
 */
public final class DecoderFuzz {
  /** What is fed. */
  public interface Decoder {
    /** Whether the input was taken; false is a refusal, and so is the declared exception. */
    boolean decode(byte[] input) throws Exception;
  }

  private static final int CASES = Boolean.getBoolean("test.nightly") ? 3_000_000 : 100_000;
  private static final int WARM_UP = 1000;

  private final String name;
  private final List<byte[]> samples;
  private Class<? extends Exception> declared;
  private long fixedBytes = 16 << 10;
  private int bytesPerByte = 16;

  private DecoderFuzz(String name, List<byte[]> samples) {
    this.name = name;
    this.samples = samples;
  }

  /**
   * Prepares a run.
   *
   * @param name of the decoder, for messages
   * @param samples good input
   */
  public static DecoderFuzz of(String name, List<byte[]> samples) {
    return new DecoderFuzz(name, samples);
  }

  /** The decoder may throw this; without it, nothing. */
  public DecoderFuzz declaring(Class<? extends Exception> exception) {
    declared = exception;
    return this;
  }

  /** The most heap one input may cost: {@code fixed} bytes, and for each of its own some more. */
  public DecoderFuzz allocating(long fixed, int perByte) {
    fixedBytes = fixed;
    bytesPerByte = perByte;
    return this;
  }

  public void run(Decoder decoder) {
    long seed = Long.getLong("test.seed", System.nanoTime());
    System.out.println(name + ": " + CASES + " inputs, seed=" + seed);
    Mutator mutator = new Mutator(samples, new Random(seed));
    int taken = 0;
    int refused = 0;
    for (int i = 0; i < CASES; i++) {
      byte[] input = mutator.next();
      try {
        if (decode(decoder, input, i)) {
          taken++;
        } else {
          refused++;
        }
      } catch (Throwable e) {
        throw new AssertionError(
            name + " case=" + i + " seed=" + seed + " " + HexFormat.of().formatHex(input), e);
      }
    }
    // Else the decoder was hardly entered, or checks nothing.
    assertTrue(taken > 0 && refused > 0, name + " taken=" + taken + " refused=" + refused);
  }

  private boolean decode(Decoder decoder, byte[] input, int number) throws Exception {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    boolean isTaken;
    Exception refusal = null;
    try {
      isTaken = decoder.decode(input);
    } catch (Exception e) {
      isTaken = false;
      refusal = e;
    }
    long allocated = threads.getCurrentThreadAllocatedBytes() - before;
    if (refusal != null && (declared == null || !declared.isInstance(refusal))) {
      throw refusal;
    }
    long bound = fixedBytes + (long) bytesPerByte * input.length;
    // The first calls load classes.
    assertTrue(
        number < WARM_UP || allocated <= bound, "allocated=" + allocated + ", bound=" + bound);
    return isTaken;
  }
}
