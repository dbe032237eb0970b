package io.rdmashuffle.spark.directory;

/**
 * Bounds of the driver's directory. Whatever would exceed one is refused, and the executor serves
 * it over TCP.
 *
 * @param maxExecutors most executors at one time
 * @param maxSlabsPerExecutor most slabs of one executor
 * @param maxShuffles most shuffles at one time
 * @param maxOutputsPerShuffle most publications to one shuffle, repeated ones included
 * @param maxTotalBytes most bytes of heap, as estimated
 * @param maxPageEntries most entries of one answer to a locate
 */
public record DirectoryLimits(
    int maxExecutors,
    int maxSlabsPerExecutor,
    int maxShuffles,
    int maxOutputsPerShuffle,
    long maxTotalBytes,
    int maxPageEntries) {
  public DirectoryLimits {
    positive("maxExecutors", maxExecutors, Bounds.MAX_EXECUTORS_PER_MESSAGE);
    positive("maxSlabsPerExecutor", maxSlabsPerExecutor, Bounds.MAX_SLABS);
    positive("maxShuffles", maxShuffles, Integer.MAX_VALUE);
    positive("maxOutputsPerShuffle", maxOutputsPerShuffle, 1 << 28);
    positive("maxTotalBytes", maxTotalBytes, Long.MAX_VALUE);
    positive("maxPageEntries", maxPageEntries, Bounds.MAX_PAGE_ENTRIES);
  }

  /**
   * Room for 16,384 executors, 16,384 slabs each and 512 MiB in all: some twelve million outputs at
   * 40 bytes each.
   */
  public static DirectoryLimits defaults() {
    return new DirectoryLimits(16_384, 16_384, 65_536, 16_777_216, 512L << 20, 65_536);
  }

  private static void positive(String name, long value, long max) {
    Bounds.check(value > 0 && value <= max, "%s=%d is not within 1 to %d", name, value, max);
  }
}
