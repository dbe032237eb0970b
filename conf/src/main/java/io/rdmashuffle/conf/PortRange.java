package io.rdmashuffle.conf;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The ports a listener may bind to: any free one, or the first free one of a range.
 *
 * @param first the lowest port, 1024 or more; 0 for any free port
 * @param last the highest port, 65535 or less, at least {@code first}; 0 for any free port
 */
public record PortRange(int first, int last) {
  /** Any free port, as the kernel chooses. */
  public static final PortRange ANY = new PortRange(0, 0);

  private static final Pattern SPELLING = Pattern.compile("([0-9]{1,5})(?:-([0-9]{1,5}))?");
  private static final int LOWEST = 1024;
  private static final int HIGHEST = 65535;

  /**
   * Checks the range.
   *
   * @throws IllegalArgumentException if a port is outside 1024 to 65535 (0 and 0 mean any), or
   *     {@code first > last}; the message completes a sentence that begins with the range
   */
  public PortRange {
    if (first > last) {
      throw new IllegalArgumentException("has its first port above its last");
    }
    if ((first < LOWEST || last > HIGHEST) && !(first == 0 && last == 0)) {
      throw new IllegalArgumentException("is outside the ports " + LOWEST + " to " + HIGHEST);
    }
  }

  /**
   * Reads {@code 0}, {@code 47000} or {@code 47000-47100}.
   *
   * @throws IllegalArgumentException if the text is no range of allowed ports; the message
   *     completes a sentence that begins with the text
   */
  public static PortRange parse(String text) {
    final Matcher matcher = SPELLING.matcher(text.trim());
    if (!matcher.matches()) {
      throw new IllegalArgumentException("is not a port or a range of ports such as 47000-47100");
    }
    final int first = Integer.parseInt(matcher.group(1));
    return new PortRange(
        first, matcher.group(2) == null ? first : Integer.parseInt(matcher.group(2)));
  }

  /** Returns whether the kernel chooses the port. */
  public boolean isAny() {
    return first == 0;
  }

  /** Returns the spelling {@link #parse} reads. */
  @Override
  public String toString() {
    return first == last ? Integer.toString(first) : first + "-" + last;
  }
}
