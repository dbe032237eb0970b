package io.rdmashuffle.spark.write;

import org.apache.spark.ShuffleDependency;
import org.apache.spark.shuffle.checksum.RowBasedChecksum;

/**
 * Checksums of rows that do not depend on their order, by which Spark SQL from 4.1 on tells whether
 * a map task that ran twice had the same output. Belongs to one task.
 */
class RowChecksums {
  private static final RowChecksums NONE = new RowChecksums();
  private static final boolean IS_KNOWN = isKnown();

  /** Those of a dependency; they do nothing where it has none. */
  static RowChecksums of(ShuffleDependency<?, ?, ?> dependency) {
    return IS_KNOWN ? PerPartition.of(dependency) : NONE;
  }

  /** Whether there are any. */
  boolean isPresent() {
    return false;
  }

  /** Takes a record into account. */
  void update(int partition, Object key, Object value) {}

  /** One checksum of all partitions; 0 when there are none. */
  long aggregated() {
    return 0;
  }

  private static boolean isKnown() {
    try {
      ShuffleDependency.class.getMethod("rowBasedChecksums");
      return true;
    } catch (NoSuchMethodException e) {
      return false;
    }
  }

  /** Apart, since its types are not there before Spark 4.1. */
  private static final class PerPartition extends RowChecksums {
    private final RowBasedChecksum[] checksums;

    private PerPartition(RowBasedChecksum[] checksums) {
      this.checksums = checksums;
    }

    static RowChecksums of(ShuffleDependency<?, ?, ?> dependency) {
      RowBasedChecksum[] checksums = dependency.rowBasedChecksums();
      return checksums == null || checksums.length == 0 ? NONE : new PerPartition(checksums);
    }

    @Override
    boolean isPresent() {
      return true;
    }

    @Override
    void update(int partition, Object key, Object value) {
      checksums[partition].update(key, value);
    }

    @Override
    long aggregated() {
      return RowBasedChecksum.getAggregatedChecksumValue(checksums);
    }
  }
}
