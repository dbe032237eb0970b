package io.rdmashuffle.jobs;

import java.nio.charset.StandardCharsets;
import org.apache.spark.sql.catalyst.expressions.XXH64;
import org.apache.spark.unsafe.Platform;

/**
 * Takes every record into a digest of 128 bits: a chain where the order of records is part of the
 * result, a sum where it is not.
 */
public final class RecordHash {
  private static final long SEED_1 = 0x9E3779B97F4A7C15L;
  private static final long SEED_2 = 0xC2B2AE3D27D4EB4FL;

  private final boolean ordered;
  private long records;
  private long hash1 = SEED_1;
  private long hash2 = SEED_2;

  /** Empty. */
  public RecordHash(boolean ordered) {
    this.ordered = ordered;
  }

  /** Adds a record made of the given bytes. */
  public void add(byte[] record) {
    records++;
    if (ordered) {
      hash1 = hash(record, hash1);
      hash2 = hash(record, hash2);
    } else {
      hash1 += hash(record, SEED_1);
      hash2 += hash(record, SEED_2);
    }
  }

  /** Adds a record by its text. */
  public void add(String record) {
    add(record.getBytes(StandardCharsets.UTF_8));
  }

  /** The digest of one partition. */
  public PartDigest toDigest(int partition) {
    return new PartDigest(partition, records, hash1, hash2);
  }

  private static long hash(byte[] bytes, long seed) {
    return XXH64.hashUnsafeBytes(bytes, Platform.BYTE_ARRAY_OFFSET, bytes.length, seed);
  }
}
