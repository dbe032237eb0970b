package io.rdmashuffle.bench;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import org.junit.jupiter.api.Test;

class StatisticsTest {
  @Test
  void theMedianIsTheMiddleValueWhateverTheOrder() {
    assertEquals(3, Statistics.median(9, 1, 3));
    assertEquals(2.5, Statistics.median(4, 1, 3, 2));
    assertEquals(7, Statistics.median(7));
  }

  @Test
  void theMedianLeavesItsArgumentAsItWas() {
    double[] values = {3, 1, 2};
    Statistics.median(values);
    assertArrayEquals(new double[] {3, 1, 2}, values);
  }

  @Test
  void theMedianOfItemsIsThatOfTheirNumbers() {
    assertEquals(2, Statistics.median(List.of("a", "bbbb", "cc"), String::length));
  }

  @Test
  void aRatioAndItsInverseCancelOutInTheGeometricMean() {
    assertEquals(1, Statistics.geometricMean(2, 0.5), 1e-12);
    assertEquals(4, Statistics.geometricMean(2, 8), 1e-12);
  }

  @Test
  void thereIsNoMedianAndNoMeanOfNothing() {
    assertThrows(IllegalArgumentException.class, () -> Statistics.median());
    assertThrows(IllegalArgumentException.class, () -> Statistics.geometricMean());
  }
}
