package io.rdmashuffle.it.rxe;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What an executor said of blocks that went by TCP.
 *
 * @param lines one for each line of its log that says so, in their order
 */
record FallbackLog(List<Line> lines) {
  private static final Pattern LINE =
      Pattern.compile("blocks of executor (\\d+) on \\S+ go by TCP: ([A-Z_]+) \\((.*)\\)");

  /** One of them. */
  record Line(int peer, String reason, String detail) {}

  static FallbackLog parse(String executorLog) {
    List<Line> lines = new ArrayList<>();
    Matcher matcher = LINE.matcher(executorLog);
    while (matcher.find()) {
      lines.add(new Line(Integer.parseInt(matcher.group(1)), matcher.group(2), matcher.group(3)));
    }
    return new FallbackLog(lines);
  }

  /** What was said of one peer's blocks. */
  FallbackLog of(int peer) {
    return new FallbackLog(lines.stream().filter(line -> line.peer() == peer).toList());
  }

  Set<Integer> peers() {
    Set<Integer> peers = new TreeSet<>();
    lines.forEach(line -> peers.add(line.peer()));
    return peers;
  }

  Set<String> reasons() {
    Set<String> reasons = new TreeSet<>();
    lines.forEach(line -> reasons.add(line.reason()));
    return reasons;
  }

  /** Whether no reason was given twice for a peer. */
  boolean isFreeOfRepetition() {
    return lines.stream().map(line -> line.peer() + line.reason()).distinct().count()
        == lines.size();
  }
}
