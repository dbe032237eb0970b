package io.rdmashuffle.spark.directory;

/**
 * Where the index block of one map output lies. Reusable: {@link DirectoryClient#lookup} overwrites
 * it. Owned by one thread.
 */
public final class Located {
  /**
   * Instead of a slab's id: the output lies in files of the executor, and there is no index block.
   * Offset, length and generation then mean nothing.
   */
  public static final int IN_FILES = Integer.MAX_VALUE;

  private String executorId;
  private int slabId;
  private long offset;
  private int indexLength;
  private long generation;

  void set(String executorId, int slabId, long offset, int indexLength, long generation) {
    this.executorId = executorId;
    this.slabId = slabId;
    this.offset = offset;
    this.indexLength = indexLength;
    this.generation = generation;
  }

  /** Executor that holds the output. */
  public String executorId() {
    return executorId;
  }

  /** Slab of that executor that holds the index block, or {@link #IN_FILES}. */
  public int slabId() {
    return slabId;
  }

  /** First byte of the index block within the slab. */
  public long offset() {
    return offset;
  }

  /** Length of the index block in bytes. */
  public int indexLength() {
    return indexLength;
  }

  /** Number the index block must carry; any other means the entry is out of date. */
  public long generation() {
    return generation;
  }

  @Override
  public String toString() {
    return "executor " + executorId + " slab " + slabId + " offset " + offset;
  }
}
