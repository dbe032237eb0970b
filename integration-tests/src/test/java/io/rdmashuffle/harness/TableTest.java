package io.rdmashuffle.harness;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class TableTest {
  @Test
  void alignsNumbersRight() {
    Table table = new Table("job", "time");
    table.add("sort", "1.0 s");
    table.add("count", "12.0 s");
    assertEquals(
        """
        job      time
        -------------
        sort    1.0 s
        count  12.0 s
        """,
        table.toString());
  }

  @Test
  void printsBytesForPeople() {
    assertEquals("9999 B", Table.bytes(9_999));
    assertEquals("12.3 KB", Table.bytes(12_345));
    assertEquals("1234.6 MB", Table.bytes(1_234_567_890));
  }
}
