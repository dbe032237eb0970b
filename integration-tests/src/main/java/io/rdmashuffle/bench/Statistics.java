package io.rdmashuffle.bench;

import java.util.Arrays;
import java.util.Collection;
import java.util.function.ToDoubleFunction;

/** Medians and means of what was measured. */
final class Statistics {
  private Statistics() {}

  /**
   * The middle value, or the mean of the two middle ones.
   *
   * @throws IllegalArgumentException when there is no value
   */
  static double median(double... values) {
    if (values.length == 0) {
      throw new IllegalArgumentException("expected a value at least, found none");
    }
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }

  /** The median of one number of each item. */
  static <T> double median(Collection<T> items, ToDoubleFunction<T> value) {
    return median(items.stream().mapToDouble(value).toArray());
  }

  /** The mean of ratios: that of their logarithms, so that 2 and 0.5 cancel out. */
  static double geometricMean(double... ratios) {
    return Math.exp(
        Arrays.stream(ratios)
            .map(Math::log)
            .average()
            .orElseThrow(
                () -> new IllegalArgumentException("expected a ratio at least, found none")));
  }
}
