package io.rdmashuffle.harness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class SparkLineTest {
  @Test
  void comparesNumbersNotTexts() {
    SparkLine line = SparkLine.parse("4.10.0-vendor.1");
    assertEquals(new SparkLine(4, 10), line);
    assertTrue(line.isAtLeast(4, 2));
    assertTrue(line.isAtLeast(3, 11));
    assertFalse(line.isAtLeast(4, 11));
    assertFalse(line.isAtLeast(5, 0));
  }

  @Test
  void onlyTheOldestLineCreatesTheManagerBeforeItLoadsJars() {
    assertFalse(SparkLine.parse("3.5.9").loadsManagerFromUserJars());
    assertTrue(SparkLine.parse("4.0.4").loadsManagerFromUserJars());
  }
}
