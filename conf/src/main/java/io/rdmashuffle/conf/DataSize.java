package io.rdmashuffle.conf;

import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A number of bytes, read and written in Spark's spelling.
 *
 * @param bytes the size, 0 or more
 */
public record DataSize(long bytes) implements Comparable<DataSize> {
  private static final Pattern SPELLING = Pattern.compile("([0-9]+)([a-z]*)");
  private static final String UNITS = "kmgtp";
  private static final Map<String, Integer> SHIFTS =
      Map.ofEntries(
          Map.entry("", 0),
          Map.entry("b", 0),
          Map.entry("k", 10),
          Map.entry("kb", 10),
          Map.entry("kib", 10),
          Map.entry("m", 20),
          Map.entry("mb", 20),
          Map.entry("mib", 20),
          Map.entry("g", 30),
          Map.entry("gb", 30),
          Map.entry("gib", 30),
          Map.entry("t", 40),
          Map.entry("tb", 40),
          Map.entry("tib", 40),
          Map.entry("p", 50),
          Map.entry("pb", 50),
          Map.entry("pib", 50));

  /**
   * Checks the size.
   *
   * @throws IllegalArgumentException if {@code bytes} is negative
   */
  public DataSize {
    if (bytes < 0) {
      throw new IllegalArgumentException("bytes=" + bytes + " < 0");
    }
  }

  /**
   * Reads a size such as {@code 64m}, {@code 64mb}, {@code 64MiB} or {@code 67108864}. Units are
   * powers of 1024, as everywhere in Spark; a plain number is bytes.
   *
   * @throws IllegalArgumentException if the text is no size, or is 2^63 bytes or more; the message
   *     completes a sentence that begins with the text
   */
  public static DataSize parse(String text) {
    final Matcher matcher = SPELLING.matcher(text.trim().toLowerCase(Locale.ROOT));
    final Integer shift = matcher.matches() ? SHIFTS.get(matcher.group(2)) : null;
    if (shift == null) {
      throw new IllegalArgumentException("is not a size such as 64m (units b, k, m, g, t, p)");
    }
    return new DataSize(Numbers.multiply(matcher.group(1), 1L << shift));
  }

  /** Returns whether this is a power of two, so 1 byte at least. */
  public boolean isPowerOfTwo() {
    return Long.bitCount(bytes) == 1;
  }

  @Override
  public int compareTo(DataSize other) {
    return Long.compare(bytes, other.bytes);
  }

  /** Returns the shortest exact spelling: {@code 64m}, {@code 1025} or {@code 0}. */
  @Override
  public String toString() {
    final int unit = bytes == 0 ? 0 : Math.min(Long.numberOfTrailingZeros(bytes) / 10, 5);
    return unit == 0
        ? Long.toString(bytes)
        : (bytes >> (10 * unit)) + UNITS.substring(unit - 1, unit);
  }
}
