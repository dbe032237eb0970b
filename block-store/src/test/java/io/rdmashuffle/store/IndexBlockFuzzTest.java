package io.rdmashuffle.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.transport.DecoderFuzz;
import io.rdmashuffle.transport.SlabMemory;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Index blocks as a hostile peer may leave them in its memory. */
class IndexBlockFuzzTest {
  private static final int PARTITIONS = 3;

  private final List<byte[]> samples =
      List.of(
          IndexBytes.small().at(0).array(),
          IndexBytes.small().withChecksums(2, 1, 2, 3).at(0).array(),
          IndexBytes.inFile().at(0).array());

  @Test
  void wholeBlocks() {
    DecoderFuzz.of("index block", samples)
        .declaring(InvalidIndexException.class)
        .run(
            input -> {
              IndexBlock block =
                  IndexBlock.decode(
                      ByteBuffer.wrap(input),
                      0,
                      location(input),
                      IndexBytes.SHUFFLE_ID,
                      IndexBytes.MAP_TASK_ID,
                      PARTITIONS,
                      IndexBytes::slabLength);
              assertStaysInSlabs(block);
              return true;
            });
  }

  /** As large ones are read: the header, then what it says concerns the partitions asked for. */
  @Test
  void slices() {
    DecoderFuzz.of("slice of an index block", samples)
        .declaring(InvalidIndexException.class)
        .run(
            input -> {
              ByteBuffer bytes = ByteBuffer.wrap(input);
              IndexHeader header =
                  IndexHeader.decode(
                      bytes,
                      0,
                      location(input),
                      IndexBytes.SHUFFLE_ID,
                      IndexBytes.MAP_TASK_ID,
                      IndexHeader.numPartitionsOf(bytes, 0));
              if (header.numPartitions() < 2) {
                return false;
              }
              assertStaysInSlabs(
                  IndexBlock.decodeSlice(
                      header,
                      1,
                      2,
                      bytes,
                      header.offsetPosition(1),
                      header.checksumPosition(1),
                      header.extentsPosition(),
                      IndexBytes::slabLength));
              return true;
            });
  }

  /** Published by the one who wrote the block, so as long as that is. */
  private static IndexLocation location(byte[] input) {
    return new IndexLocation(3, SlabMemory.HEADER_LENGTH, input.length, IndexBytes.GENERATION);
  }

  private static void assertStaysInSlabs(IndexBlock block) {
    long[] total = {0};
    block.forEachPiece(
        block.startPartition(),
        block.endPartition(),
        (slabId, offset, length) -> {
          SlabDescriptor window = block.fileWindow(slabId);
          int slabLength = window == null ? IndexBytes.slabLength(slabId) : window.length();
          assertTrue(offset >= (window == null ? SlabMemory.HEADER_LENGTH : 0) && length >= 1);
          assertTrue((long) offset + length <= slabLength);
          total[0] += length;
        });
    assertEquals(block.length(block.startPartition(), block.endPartition()), total[0]);
  }
}
