package io.rdmashuffle.conf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TimeSpanTest {
  @ParameterizedTest
  @CsvSource({
    "0, 0",
    "50us, 50000",
    "1ms, 1000000",
    "1500, 1500000000",
    "10s, 10000000000",
    "2m, 120000000000",
    "2min, 120000000000",
    "2MIN, 120000000000",
    "1h, 3600000000000",
    "1d, 86400000000000",
    "' 10s ', 10000000000",
  })
  void readsSparksSpellings(String text, long nanos) {
    assertEquals(nanos, TimeSpan.parse(text).toNanos());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "", "s", "-1", "-1s", "+1s", "1.5s", "10 s", "1h30m", "10sec", "1ns", "1w", "auto"
      })
  void refusesWhatIsNoDuration(String text) {
    final Exception e =
        assertThrows(IllegalArgumentException.class, () -> TimeSpan.parse(text), text);
    assertTrue(e.getMessage().startsWith("is not a duration"), e.getMessage());
  }

  @ParameterizedTest
  @ValueSource(strings = {"106752d", "9223372036855", "99999999999999999999us"})
  void refusesWhatOverflows(String text) {
    final Exception e =
        assertThrows(IllegalArgumentException.class, () -> TimeSpan.parse(text), text);
    assertTrue(e.getMessage().startsWith("is too large"), e.getMessage());
  }

  @Test
  void readsTheLongestDurationThatFits() {
    assertEquals(Duration.ofDays(106_751), TimeSpan.parse("106751d"));
  }
}
