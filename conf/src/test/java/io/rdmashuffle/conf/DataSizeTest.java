package io.rdmashuffle.conf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DataSizeTest {
  @ParameterizedTest
  @CsvSource({
    "0, 0",
    "1, 1",
    "1025, 1025",
    "7b, 7",
    "4k, 4096",
    "4kb, 4096",
    "4KiB, 4096",
    "64m, 67108864",
    "64MB, 67108864",
    "64mib, 67108864",
    "2g, 2147483648",
    "2gb, 2147483648",
    "2GiB, 2147483648",
    "3t, 3298534883328",
    "3tb, 3298534883328",
    "3tib, 3298534883328",
    "1p, 1125899906842624",
    "1pb, 1125899906842624",
    "1pib, 1125899906842624",
    "'  64m\t', 67108864",
    "007k, 7168",
    "9223372036854775807, 9223372036854775807",
  })
  void readsSparksSpellings(String text, long bytes) {
    assertEquals(bytes, DataSize.parse(text).bytes());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "", " ", "m", "-1", "-64m", "+1", "1.5g", "64 m", "64x", "64mm", "6 4", "0x10", "1e3",
        "1_000", "64m,", "auto", "٣m"
      })
  void refusesWhatIsNoSize(String text) {
    final Exception e =
        assertThrows(IllegalArgumentException.class, () -> DataSize.parse(text), text);
    assertTrue(e.getMessage().startsWith("is not a size"), e.getMessage());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"9223372036854775808", "8192p", "9007199254740992k", "99999999999999999999999t"})
  void refusesWhatOverflows(String text) {
    final Exception e =
        assertThrows(IllegalArgumentException.class, () -> DataSize.parse(text), text);
    assertTrue(e.getMessage().startsWith("is too large"), e.getMessage());
  }

  @Test
  void refusesNegativeBytes() {
    assertThrows(IllegalArgumentException.class, () -> new DataSize(-1));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"0", "1", "1023", "1k", "1025", "1536k", "64m", "3g", "16t", "1p", "2048p"})
  void writesTheShortestExactSpelling(String text) {
    assertEquals(text, DataSize.parse(text).toString());
  }

  @Test
  void writesLargerUnitsWhereTheyFit() {
    assertEquals("1m", DataSize.parse("1024k").toString());
    assertEquals(Long.toString(Long.MAX_VALUE), new DataSize(Long.MAX_VALUE).toString());
  }

  @Test
  void knowsPowersOfTwo() {
    assertTrue(new DataSize(1).isPowerOfTwo());
    assertTrue(DataSize.parse("64m").isPowerOfTwo());
    assertFalse(new DataSize(0).isPowerOfTwo());
    assertFalse(DataSize.parse("3m").isPowerOfTwo());
  }
}
