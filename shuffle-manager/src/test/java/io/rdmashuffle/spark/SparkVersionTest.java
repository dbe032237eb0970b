package io.rdmashuffle.spark;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SparkVersionTest {
  @Test
  void theSparkOfThisBuildIsAccepted() {
    assertDoesNotThrow(() -> SparkVersion.check());
  }

  @ParameterizedTest
  @ValueSource(strings = {"4.2.0", "4.2.7", "4.2.0-vendor.1", "4.2", "4.1.3", "4.0.4", "3.5.9"})
  void releasesOfItsLinesAreAccepted(String version) {
    assertDoesNotThrow(() -> SparkVersion.check(version));
  }

  @ParameterizedTest
  @ValueSource(strings = {"3.4.4", "3.50.0", "4.3.0", "4.20.0", "5.0.0", ""})
  void otherLinesAreRefusedWithBothVersions(String version) {
    IllegalArgumentException refusal =
        assertThrows(IllegalArgumentException.class, () -> SparkVersion.check(version));
    assertTrue(
        refusal.getMessage().contains("for Spark 3.5, 4.0, 4.1, 4.2, found Spark " + version));
  }
}
