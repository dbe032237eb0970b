package io.rdmashuffle.conf;

import java.util.List;

/**
 * The settings cannot be used: the application must not start with them.
 *
 * <p>The message lists every problem found, each with the key, its value, what is allowed and the
 * remedy, so that one start is enough to mend them all.
 */
public final class ConfigurationException extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;

  /** A copy as an array, since not every {@code List} survives serialization. */
  private final String[] problems;

  ConfigurationException(List<String> problems) {
    super(describe(problems));
    this.problems = problems.toArray(new String[0]);
  }

  /** Returns the problems in the order they were found, one or more. */
  public List<String> problems() {
    return List.of(problems);
  }

  private static String describe(List<String> problems) {
    final String count = problems.size() == 1 ? "1 problem" : problems.size() + " problems";
    return count + " in the RDMA shuffle's settings:\n  " + String.join("\n  ", problems);
  }
}
