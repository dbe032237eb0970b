package io.rdmashuffle.it;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.rdmashuffle.harness.LogWarning;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class LogCheckTest {
  private static final LogWarning TIMEOUT = warning("blocks go by TCP: READ_TIMEOUT (late)");
  private static final LogWarning STALE = warning("blocks go by TCP: STALE (freed)");

  @Test
  void whatNoPatternMatchesIsUnexpected() {
    assertEquals(
        List.of(STALE), LogCheck.unexpected(List.of(TIMEOUT, STALE), patterns("READ_[A-Z]+ ")));
  }

  @Test
  void withoutPatternsEverythingIsUnexpected() {
    assertEquals(List.of(TIMEOUT), LogCheck.unexpected(List.of(TIMEOUT), patterns()));
  }

  private static LogWarning warning(String text) {
    return new LogWarning(Path.of("log"), text);
  }

  private static List<Pattern> patterns(String... patterns) {
    return List.of(patterns).stream().map(Pattern::compile).toList();
  }
}
