package io.rdmashuffle.store;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** An index block written out by hand from the layout in design, independently of the codec. */
final class IndexBytes {
  static final long GENERATION = 0x1122334455667788L;
  static final int SHUFFLE_ID = 7;
  static final long MAP_TASK_ID = 5_000_000_000L;

  int magic = 0x42495352;
  int version = 1;
  long generation = GENERATION;
  int shuffleId = SHUFFLE_ID;
  int numPartitions;
  long mapTaskId = MAP_TASK_ID;
  int extentCount;
  int algorithm;
  int keysPerExtent;
  long[] offsets;
  long[] checksums = {};
  // Offset in slab, length, slab id, reserved.
  long[][] extents;
  String[] keys = {};

  /** Three partitions of 100, 0 and 4900 bytes in two extents. */
  static IndexBytes small() {
    IndexBytes bytes = new IndexBytes();
    bytes.numPartitions = 3;
    bytes.offsets = new long[] {0, 100, 100, 5000};
    bytes.extents = new long[][] {{4096, 4000, 1, 0}, {8192, 1000, 2, 0}};
    bytes.extentCount = 2;
    return bytes;
  }

  IndexBytes withChecksums(int algorithmCode, long... values) {
    algorithm = algorithmCode;
    checksums = values;
    return this;
  }

  /** The same partitions in a file that is read over two transports. */
  static IndexBytes inFile() {
    IndexBytes bytes = small();
    bytes.extents = new long[][] {{0, 5000, 77, 0}};
    bytes.extentCount = 1;
    bytes.keysPerExtent = 2;
    bytes.keys = new String[] {"shm", "rdma"};
    return bytes;
  }

  int length() {
    return 40 + 8 * (offsets.length + checksums.length) + (24 + 24 * keys.length) * extents.length;
  }

  IndexLocation location() {
    return new IndexLocation(3, 4096, length(), GENERATION);
  }

  /** The bytes at a position that is not 0, in a buffer of no special order. */
  ByteBuffer at(int position) {
    ByteBuffer out = ByteBuffer.allocate(position + length()).order(ByteOrder.LITTLE_ENDIAN);
    out.position(position);
    out.putInt(magic).putInt(version).putLong(generation).putInt(shuffleId).putInt(numPartitions);
    out.putLong(mapTaskId)
        .putInt(extentCount)
        .putShort((short) algorithm)
        .putShort((short) keysPerExtent);
    for (long offset : offsets) {
      out.putLong(offset);
    }
    for (long checksum : checksums) {
      out.putLong(checksum);
    }
    for (long[] extent : extents) {
      out.putLong(extent[0]).putLong(extent[1]).putInt((int) extent[2]).putInt((int) extent[3]);
      for (String key : keys) {
        out.put(Arrays.copyOf(key.getBytes(StandardCharsets.US_ASCII), 8));
        out.putLong(1000 + key.length()).putInt(-key.length()).putInt(0);
      }
    }
    return out.order(ByteOrder.BIG_ENDIAN).rewind();
  }

  /** Slabs 1 and 2 have a MiB, slab 9 nearly 2 GiB, others do not exist. */
  static int slabLength(int slabId) {
    return switch (slabId) {
      case 1, 2 -> 1 << 20;
      case 9 -> Integer.MAX_VALUE - 4095;
      default -> 0;
    };
  }

  IndexBlock decode() throws InvalidIndexException {
    return IndexBlock.decode(
        at(16), 16, location(), SHUFFLE_ID, MAP_TASK_ID, 3, IndexBytes::slabLength);
  }
}
