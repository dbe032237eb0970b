package io.rdmashuffle.spark.write;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.List;

/**
 * Writes the block of one partition: what was spilled of it, then the records still in memory,
 * compressed and encrypted. Spilled bytes are passed on as they are where the codec's streams may
 * follow each other, so that merging costs no compression. Used by one thread.
 */
final class BlockEncoder {
  private static final int BUFFER_LENGTH = 32 << 10;

  private final BlockStreams streams;
  private final byte[] buffer = new byte[BUFFER_LENGTH];

  // Null where the codec has to make a stream for each partition.
  private final Lz4BlockStream lz4;

  BlockEncoder(BlockStreams streams) {
    this.streams = streams;
    lz4 = streams.newLz4BlockStream();
  }

  /** Writes the next partition of the records. */
  void encode(SortedRecords records, PartitionSink sink) throws IOException {
    try (OutputStream out = compressing(streams.encrypting(sink), records)) {
      records.writePartition(out, buffer);
    }
  }

  /** For the next partition of the records. */
  private OutputStream compressing(OutputStream out, SortedRecords records) {
    return lz4 == null
        ? streams.compressing(out, records.lengthUpTo(BlockStreams.SMALL))
        : lz4.to(out);
  }

  /**
   * Writes a partition out of its parts, which are in order.
   *
   * @param spills readers that stand before the partition, if they have it
   */
  void merge(int partition, List<SpillReader> spills, SortedRecords records, PartitionSink sink)
      throws IOException {
    if (streams.isConcatenable()) {
      concatenate(partition, spills, records, sink);
    } else {
      recompress(partition, spills, records, sink);
    }
  }

  private void concatenate(
      int partition, List<SpillReader> spills, SortedRecords records, PartitionSink sink)
      throws IOException {
    try (OutputStream encrypted = streams.encrypting(sink)) {
      for (SpillReader spill : spills) {
        if (spill.partition() == partition) {
          copy(streams.decrypting(spill.open()), encrypted);
        }
      }
      if (records.partition() == partition) {
        // Comes last, since closing it closes the stream beneath.
        try (OutputStream out = compressing(encrypted, records)) {
          records.writePartition(out, buffer);
        }
      }
    }
  }

  private void recompress(
      int partition, List<SpillReader> spills, SortedRecords records, PartitionSink sink)
      throws IOException {
    try (OutputStream out = streams.compressing(streams.encrypting(sink), Long.MAX_VALUE)) {
      for (SpillReader spill : spills) {
        if (spill.partition() == partition) {
          copy(streams.decompressing(streams.decrypting(spill.open())), out);
        }
      }
      if (records.partition() == partition) {
        records.writePartition(out, buffer);
      }
    }
  }

  private void copy(InputStream in, OutputStream out) throws IOException {
    try (in) {
      for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
        out.write(buffer, 0, count);
      }
    }
  }
}
