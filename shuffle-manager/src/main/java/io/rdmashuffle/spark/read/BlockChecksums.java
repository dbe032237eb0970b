package io.rdmashuffle.spark.read;

import io.rdmashuffle.store.ChecksumAlgorithm;
import io.rdmashuffle.store.IndexBlock;
import java.nio.ByteBuffer;
import java.util.zip.Adler32;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;
import java.util.zip.Checksum;

/** The optional end-to-end check of what was read against the checksums in the index block. */
final class BlockChecksums {
  private BlockChecksums() {}

  /**
   * Whether each of the partitions has the checksum it was written with; true when the map output
   * has no checksums.
   *
   * @param pieces the bytes of all partitions, one behind the other; their positions do not move
   */
  static boolean match(
      IndexBlock index, int startPartition, int endPartition, ByteBuffer[] pieces) {
    ChecksumAlgorithm algorithm = index.header().checksumAlgorithm();
    if (algorithm == ChecksumAlgorithm.NONE) {
      return true;
    }
    Checksum checksum = newChecksum(algorithm);
    ByteBuffer[] unread = Buffers.duplicates(pieces);
    int piece = 0;
    for (int partition = startPartition; partition < endPartition; partition++) {
      long left = index.partitionLength(partition);
      boolean isEmpty = left == 0;
      checksum.reset();
      while (left > 0) {
        ByteBuffer bytes = unread[piece];
        int count = (int) Math.min(left, bytes.remaining());
        checksum.update(bytes.slice(bytes.position(), count));
        bytes.position(bytes.position() + count);
        left -= count;
        if (!bytes.hasRemaining()) {
          piece++;
        }
      }
      // Spark leaves the checksum of a partition that was never written at its initial value.
      if (!isEmpty && checksum.getValue() != index.checksum(partition)) {
        return false;
      }
    }
    return true;
  }

  private static Checksum newChecksum(ChecksumAlgorithm algorithm) {
    return switch (algorithm) {
      case ADLER32 -> new Adler32();
      case CRC32 -> new CRC32();
      case CRC32C -> new CRC32C();
      case NONE -> throw new IllegalArgumentException("no checksum");
    };
  }
}
