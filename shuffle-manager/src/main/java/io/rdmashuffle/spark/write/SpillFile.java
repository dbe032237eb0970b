package io.rdmashuffle.spark.write;

import java.io.BufferedOutputStream;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Arrays;

/**
 * Records that had to leave memory before the end of the task, in a temporary file: block after
 * block in order of partition, compressed and encrypted like the output. Knows where they lie;
 * costs memory only for partitions that are there. Used by one thread.
 */
final class SpillFile {
  private static final int BUFFER_LENGTH = 64 << 10;

  private final File file;
  private int[] partitions = new int[64];
  private long[] lengths = new long[64];
  private int count;
  private long bytes;

  /**
   * @param file which may not exist yet; the caller deletes it through {@link #delete}
   */
  SpillFile(File file) {
    this.file = file;
  }

  /** Writes all records. */
  void write(SortedRecords records, BlockEncoder encoder) throws IOException {
    PartitionSink sink = new PartitionSink(null);
    try (OutputStream out = new BufferedOutputStream(new FileOutputStream(file), BUFFER_LENGTH)) {
      int partition = records.partition();
      while (partition != SortedRecords.NONE) {
        encoder.encode(records, sink.to(out));
        add(partition, sink.partitionBytes());
        partition = records.partition();
      }
    }
  }

  private void add(int partition, long length) {
    if (count == partitions.length) {
      partitions = Arrays.copyOf(partitions, 2 * count);
      lengths = Arrays.copyOf(lengths, 2 * count);
    }
    partitions[count] = partition;
    lengths[count] = length;
    count++;
    bytes += length;
  }

  File file() {
    return file;
  }

  /** Bytes in the file. */
  long bytes() {
    return bytes;
  }

  /** Number of partitions in the file. */
  int count() {
    return count;
  }

  /** The i-th partition in the file. */
  int partition(int i) {
    return partitions[i];
  }

  /** Bytes of the i-th partition in the file. */
  long length(int i) {
    return lengths[i];
  }

  /** Returns false when the file is there and cannot be deleted. */
  boolean delete() {
    return file.delete() || !file.exists();
  }
}
