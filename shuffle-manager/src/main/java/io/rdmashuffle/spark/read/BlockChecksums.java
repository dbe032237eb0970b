package io.rdmashuffle.spark.read;

import io.rdmashuffle.store.ChecksumAlgorithm;
import io.rdmashuffle.store.IndexBlock;
import java.nio.ByteBuffer;
import java.util.zip.Adler32;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;
import java.util.zip.Checksum;

/**
 * The optional end-to-end check of adjacent partitions, as their bytes pass by, against the
 * checksums in the index block. Used by one thread.
 */
final class BlockChecksums {
  private final IndexBlock index;
  private final int endPartition;

  /** Null when the map output has no checksums. */
  private final Checksum checksum;

  private int partition;
  private long leftOfPartition;
  private boolean isIntact = true;

  /**
   * @param startPartition first of the partitions whose bytes will be accepted, one behind the
   *     other
   */
  BlockChecksums(IndexBlock index, int startPartition, int endPartition) {
    this.index = index;
    this.endPartition = endPartition;
    checksum = newChecksum(index.header().checksumAlgorithm());
    partition = startPartition;
    leftOfPartition = index.partitionLength(startPartition);
  }

  /**
   * Whether each of the partitions has the checksum it was written with; true when the map output
   * has no checksums.
   *
   * @param pieces the bytes of all partitions, one behind the other; their positions do not move
   */
  static boolean match(
      IndexBlock index, int startPartition, int endPartition, ByteBuffer[] pieces) {
    BlockChecksums check = new BlockChecksums(index, startPartition, endPartition);
    for (ByteBuffer piece : pieces) {
      check.accept(piece);
    }
    return check.isIntact();
  }

  /** Takes the next bytes; their position does not move. */
  void accept(ByteBuffer piece) {
    if (checksum == null) {
      return;
    }
    ByteBuffer bytes = piece.duplicate();
    while (bytes.hasRemaining()) {
      if (leftOfPartition == 0) {
        nextPartition();
      }
      int count = (int) Math.min(leftOfPartition, bytes.remaining());
      checksum.update(bytes.slice(bytes.position(), count));
      bytes.position(bytes.position() + count);
      leftOfPartition -= count;
      if (leftOfPartition == 0) {
        isIntact &= checksum.getValue() == index.checksum(partition);
      }
    }
  }

  /** An empty partition has nothing to check: Spark leaves its checksum at the initial value. */
  private void nextPartition() {
    checksum.reset();
    while (leftOfPartition == 0) {
      partition++;
      if (partition == endPartition) {
        throw new IllegalArgumentException("more bytes than the partitions hold");
      }
      leftOfPartition = index.partitionLength(partition);
    }
  }

  /** Whether all partitions that have passed by whole were right. */
  boolean isIntact() {
    return isIntact;
  }

  private static Checksum newChecksum(ChecksumAlgorithm algorithm) {
    return switch (algorithm) {
      case ADLER32 -> new Adler32();
      case CRC32 -> new CRC32();
      case CRC32C -> new CRC32C();
      case NONE -> null;
    };
  }
}
