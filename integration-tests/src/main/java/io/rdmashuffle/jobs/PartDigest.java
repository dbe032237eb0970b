package io.rdmashuffle.jobs;

import java.io.Serializable;

/** Count and 128-bit digest of the records in one partition of a result. */
public record PartDigest(int partition, long records, long hash1, long hash2)
    implements Serializable {

  /** For the way from executors to the driver: Kryo of Spark's version cannot write a record. */
  long[] toLongs() {
    return new long[] {partition, records, hash1, hash2};
  }

  static PartDigest fromLongs(long[] longs) {
    return new PartDigest((int) longs[0], longs[1], longs[2], longs[3]);
  }
}
