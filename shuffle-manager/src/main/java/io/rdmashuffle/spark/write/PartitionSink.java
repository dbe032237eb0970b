package io.rdmashuffle.spark.write;

import java.io.IOException;
import java.io.OutputStream;
import java.util.zip.Checksum;

/**
 * The last stream before the place where a partition is stored: counts, times and sums up the bytes
 * as they are stored. Used for one partition after the other by one thread; closing it does not
 * close what it writes to.
 */
final class PartitionSink extends OutputStream {
  private final Checksum checksum;
  private OutputStream target;
  private long partitionBytes;
  private long writeNs;

  /**
   * @param checksum null for none
   */
  PartitionSink(Checksum checksum) {
    this.checksum = checksum;
  }

  /** Begins a partition, whose bytes go to {@code target}. */
  PartitionSink to(OutputStream target) {
    this.target = target;
    partitionBytes = 0;
    if (checksum != null) {
      checksum.reset();
    }
    return this;
  }

  /** Bytes of the current partition. */
  long partitionBytes() {
    return partitionBytes;
  }

  /** The checksum of the current partition so far; 0 without checksums. */
  long checksum() {
    return checksum == null ? 0 : checksum.getValue();
  }

  /** Time spent in storing bytes, over all partitions. */
  long writeNs() {
    return writeNs;
  }

  @Override
  public void write(int value) throws IOException {
    target.write(value);
    if (checksum != null) {
      checksum.update(value);
    }
    partitionBytes++;
  }

  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    long startNs = System.nanoTime();
    target.write(bytes, offset, length);
    writeNs += System.nanoTime() - startNs;
    if (checksum != null) {
      checksum.update(bytes, offset, length);
    }
    partitionBytes += length;
  }
}
