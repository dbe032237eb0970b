package io.rdmashuffle.conf;

/** Number parsing shared by sizes and durations. */
final class Numbers {
  private Numbers() {}

  /** Returns {@code digits × unit}; the exception's message completes a sentence. */
  static long multiply(String digits, long unit) {
    try {
      return Math.multiplyExact(Long.parseLong(digits), unit);
    } catch (NumberFormatException | ArithmeticException e) {
      throw new IllegalArgumentException("is too large for a 64-bit number", e);
    }
  }
}
