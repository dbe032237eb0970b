package io.rdmashuffle.bench;

import io.rdmashuffle.harness.ClusterSpec;
import java.util.Map;

/**
 * A memory budget that is a share of what a shuffle writes.
 *
 * @param percent above 0, at most 100
 */
record BudgetShare(double percent) {
  private static final long SMALLEST_SLAB = 1L << 20;
  private static final long LARGEST_SLAB = 64L << 20;

  /**
   * From text such as {@code 10%}.
   *
   * @throws IllegalArgumentException saying what was expected
   */
  static BudgetShare parse(String text) {
    try {
      String number = text.endsWith("%") ? text.substring(0, text.length() - 1) : text;
      double percent = Double.parseDouble(number);
      if (percent > 0 && percent <= 100) {
        return new BudgetShare(percent);
      }
    } catch (NumberFormatException e) {
      // Reported below with what was expected.
    }
    throw new IllegalArgumentException(
        "--budget: expected a share of the shuffle such as 10%, found '" + text + "'");
  }

  /**
   * The same application with so little memory, and with slabs small enough for it.
   *
   * @param writtenBytes what one run of the job writes
   * @throws IllegalStateException when that share is less than the smallest slab
   */
  ClusterSpec applyTo(ClusterSpec spec, long writtenBytes) {
    long budget = (long) (writtenBytes * percent / 100 / spec.executors());
    if (budget < SMALLEST_SLAB) {
      throw new IllegalStateException(
          "%.0f %% of %,d bytes on %d executors are %,d each, less than a slab of 1 MiB; use a larger"
                  .formatted(percent, writtenBytes, spec.executors(), budget)
              + " --load, --size or --scale");
    }
    long slab = Math.min(LARGEST_SLAB, Long.highestOneBit(budget));
    return spec.with(
        Map.of(
            "spark.shuffle.rdma.memory.size",
            budget + "b",
            "spark.shuffle.rdma.memory.slabSize",
            slab + "b",
            // So that what a run has freed is there again for the next one.
            "spark.shuffle.rdma.read.timeout",
            "1s",
            "spark.shuffle.rdma.memory.quarantine",
            "1500ms"));
  }
}
