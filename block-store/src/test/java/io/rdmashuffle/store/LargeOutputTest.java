package io.rdmashuffle.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Real memory beyond 2 GiB, on tmpfs because the heap of a test is smaller. */
@Tag("slow")
@Timeout(300)
class LargeOutputTest {
  private static final Path DIRECTORY = Path.of("/dev/shm");
  private static final long LENGTH = (5L << 29) + 12_345;
  private static final int BLOCK = 1 << 20;

  @Test
  void anOutputAndAPartitionBeyondTwoGibibytesComeBackAsWritten() throws Exception {
    assumeTrue(
        Files.isDirectory(DIRECTORY) && DIRECTORY.toFile().getUsableSpace() > (4L << 30),
        DIRECTORY + " has less than 4 GiB free");
    TestSlabs slabs = new TestSlabs(DIRECTORY);
    assumeTrue(slabs.shareable().isAvailable(), slabs.shareable().cause());
    SlabPool pool = Pools.of(slabs, 3L << 30, 256 << 20);
    try (BlockStore store = new BlockStore(pool)) {
      MapOutputBuilder builder = store.begin(1, 2, 3);
      builder.startPartition(0);
      builder.writeByte(-1);
      builder.startPartition(1);
      ByteBuffer block = ByteBuffer.allocate(BLOCK);
      for (long left = LENGTH; left > 0; left -= BLOCK) {
        block.clear().putLong(0, left);
        builder.write(block.limit((int) Math.min(left, BLOCK)));
      }
      builder.startPartition(2);
      builder.writeByte(-2);
      MapOutput output = builder.commit();
      assertEquals(LENGTH, output.partitionLength(1));
      assertEquals(LENGTH + 2, output.length());
      IndexBlock index = Readers.readIndex(pool, output);
      assertEquals(LENGTH, index.partitionLength(1));
      System.out.printf(
          "%d bytes in %d extents, %d bytes taken%n",
          output.length(), index.header().extentCount(), pool.gauges().allocatedBytes());
      assertTrue(pool.gauges().allocatedBytes() < LENGTH + 4096);

      long[] total = {0};
      index.forEachPiece(0, 3, (slabId, offset, length) -> total[0] += length);
      assertEquals(LENGTH + 2, total[0]);
      assertEquals(-2, output.slices(2, 3).get(0).get());
      long at = 0;
      for (ByteBuffer slice : output.slices(1, 2)) {
        // Every block begins with the bytes that were left to write.
        int toBlock = (int) ((BLOCK - at % BLOCK) % BLOCK);
        for (int i = toBlock; i <= slice.remaining() - Long.BYTES; i += BLOCK) {
          assertEquals(LENGTH - at - i, slice.getLong(i));
        }
        at += slice.remaining();
      }
      assertEquals(LENGTH, at);
    }
    assertEquals(0, slabs.openCount());
  }
}
