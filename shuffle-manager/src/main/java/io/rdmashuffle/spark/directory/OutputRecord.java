package io.rdmashuffle.spark.directory;

/**
 * Where the index block of one map output lies, within the slabs of the executor that wrote it, or
 * that the output is {@linkplain #inFiles in files}.
 *
 * @param shuffleId Spark's id of the shuffle
 * @param mapTaskId Spark's map id, the attempt id of the task
 * @param slabId slab that holds the index block, or {@link Located#IN_FILES}
 * @param offset first byte of the index block within the slab
 * @param indexLength length of the index block in bytes
 * @param generation number in the index block, unique for ever within the application
 */
public record OutputRecord(
    int shuffleId, long mapTaskId, int slabId, long offset, int indexLength, long generation) {
  public OutputRecord {
    Bounds.check(shuffleId >= 0, "shuffleId=%d is negative", shuffleId);
    Bounds.check(slabId >= 0, "slabId=%d is negative", slabId);
    Bounds.check(offset >= 0, "offset=%d is negative", offset);
    Bounds.check(
        indexLength > 0 && indexLength <= Bounds.MAX_INDEX_BYTES,
        "indexLength=%d is not within 1 to %d",
        indexLength,
        Bounds.MAX_INDEX_BYTES);
  }

  /**
   * An output that lies in files. Publishing it spares reducers from asking for it again and again,
   * and tells them why they read it over TCP.
   */
  public static OutputRecord inFiles(int shuffleId, long mapTaskId) {
    return new OutputRecord(shuffleId, mapTaskId, Located.IN_FILES, 0, 1, 0);
  }

  boolean isInFiles() {
    return slabId == Located.IN_FILES;
  }
}
