package io.rdmashuffle.store;

/** How the checksum of each partition was computed: Spark's algorithms, and none. */
public enum ChecksumAlgorithm {
  NONE(0),
  ADLER32(1),
  CRC32(2),
  CRC32C(3);

  private final short code;

  ChecksumAlgorithm(int code) {
    this.code = (short) code;
  }

  /** What stands for it in an index block; never changes. */
  short code() {
    return code;
  }

  /** The algorithm with a code, null when there is none. */
  static ChecksumAlgorithm ofCode(int code) {
    for (ChecksumAlgorithm algorithm : values()) {
      if (algorithm.code == code) {
        return algorithm;
      }
    }
    return null;
  }
}
