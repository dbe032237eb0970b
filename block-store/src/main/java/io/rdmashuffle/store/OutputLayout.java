package io.rdmashuffle.store;

/** How the partitions of a map output follow each other, wherever its bytes are. Immutable. */
public final class OutputLayout {
  private final int shuffleId;
  private final long mapTaskId;
  private final long[] offsets;
  private final long[] checksums;
  private final ChecksumAlgorithm algorithm;

  /**
   * Takes the arrays over.
   *
   * @param mapTaskId Spark's task attempt id, which names the output
   * @param offsets where each partition begins, and the end of the last: one more than partitions
   * @param checksums one per partition; empty with {@link ChecksumAlgorithm#NONE}
   */
  public OutputLayout(
      int shuffleId,
      long mapTaskId,
      long[] offsets,
      long[] checksums,
      ChecksumAlgorithm algorithm) {
    if (offsets.length == 0
        || checksums.length != (algorithm == ChecksumAlgorithm.NONE ? 0 : offsets.length - 1)) {
      throw new IllegalArgumentException(
          "offsets=" + offsets.length + " checksums=" + checksums.length + " of " + algorithm);
    }
    this.shuffleId = shuffleId;
    this.mapTaskId = mapTaskId;
    this.offsets = offsets;
    this.checksums = checksums;
    this.algorithm = algorithm;
  }

  /** The layout of partitions of these lengths; else as the constructor. */
  public static OutputLayout ofLengths(
      int shuffleId,
      long mapTaskId,
      long[] lengths,
      long[] checksums,
      ChecksumAlgorithm algorithm) {
    long[] offsets = new long[lengths.length + 1];
    for (int i = 0; i < lengths.length; i++) {
      offsets[i + 1] = offsets[i] + lengths[i];
    }
    return new OutputLayout(shuffleId, mapTaskId, offsets, checksums, algorithm);
  }

  /**
   * The layout of an output in memory.
   *
   * @param output pinned by the caller
   */
  public static OutputLayout of(MapOutput output) {
    long[] lengths = new long[output.numPartitions()];
    for (int i = 0; i < lengths.length; i++) {
      lengths[i] = output.partitionLength(i);
    }
    return ofLengths(
        output.shuffleId(),
        output.mapTaskId(),
        lengths,
        output.checksums(),
        output.checksumAlgorithm());
  }

  public int shuffleId() {
    return shuffleId;
  }

  public long mapTaskId() {
    return mapTaskId;
  }

  public int numPartitions() {
    return offsets.length - 1;
  }

  /** Bytes of all partitions. */
  public long length() {
    return offsets[numPartitions()];
  }

  /** Where each partition begins, and the end of the last; not to be changed. */
  long[] offsets() {
    return offsets;
  }

  /** One per partition, or none; not to be changed. */
  long[] checksums() {
    return checksums;
  }

  ChecksumAlgorithm algorithm() {
    return algorithm;
  }
}
