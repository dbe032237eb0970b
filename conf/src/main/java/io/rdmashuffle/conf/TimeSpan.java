package io.rdmashuffle.conf;

import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads and writes durations in Spark's spelling. */
final class TimeSpan {
  private static final Pattern SPELLING = Pattern.compile("([0-9]+)([a-z]*)");
  private static final Map<String, TimeUnit> UNITS =
      Map.of(
          "", TimeUnit.MILLISECONDS,
          "us", TimeUnit.MICROSECONDS,
          "ms", TimeUnit.MILLISECONDS,
          "s", TimeUnit.SECONDS,
          "m", TimeUnit.MINUTES,
          "min", TimeUnit.MINUTES,
          "h", TimeUnit.HOURS,
          "d", TimeUnit.DAYS);

  private TimeSpan() {}

  /**
   * Reads a duration such as {@code 10s}; a plain number is milliseconds.
   *
   * @throws IllegalArgumentException if the text is no duration, or is 2^63 nanoseconds (292 years)
   *     or more; the message completes a sentence that begins with the text
   */
  static Duration parse(String text) {
    final Matcher matcher = SPELLING.matcher(text.trim().toLowerCase(Locale.ROOT));
    final TimeUnit unit = matcher.matches() ? UNITS.get(matcher.group(2)) : null;
    if (unit == null) {
      throw new IllegalArgumentException(
          "is not a duration such as 10s (units us, ms, s, min, h, d)");
    }
    return Duration.ofNanos(Numbers.multiply(matcher.group(1), unit.toNanos(1)));
  }

  /** Returns the shortest exact spelling: {@code 10s}, {@code 1500ms} or {@code 0}. */
  static String format(Duration duration) {
    final long micros = duration.toNanos() / 1_000;
    if (micros == 0) {
      return "0";
    }
    for (String unit : new String[] {"d", "h", "min", "s", "ms"}) {
      final long unitMicros = UNITS.get(unit).toMicros(1);
      if (micros % unitMicros == 0) {
        return micros / unitMicros + unit;
      }
    }
    return micros + "us";
  }
}
