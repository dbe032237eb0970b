package io.rdmashuffle.conf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PortRangeTest {
  @Test
  void readsAnyOneAndRange() {
    assertEquals(PortRange.ANY, PortRange.parse("0"));
    assertTrue(PortRange.parse("0").isAny());
    assertEquals(new PortRange(1024, 1024), PortRange.parse("1024"));
    assertFalse(PortRange.parse("1024").isAny());
    assertEquals(new PortRange(1024, 65535), PortRange.parse(" 1024-65535 "));
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "47000", "47000-47100"})
  void writesWhatItReads(String text) {
    assertEquals(text, PortRange.parse(text).toString());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "-1",
        "1",
        "1023",
        "65536",
        "1023-2000",
        "2000-65536",
        "0-2000",
        "2000-1999",
        "2000-",
        "-2000",
        "2000-2001-2002",
        "2000 - 2001",
        "2000,2001",
        "http",
        "99999999999"
      })
  void refusesOtherPorts(String text) {
    assertThrows(IllegalArgumentException.class, () -> PortRange.parse(text), text);
  }
}
