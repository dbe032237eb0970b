package io.rdmashuffle.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class IndexBlockTest {
  @Test
  void aBlockTellsWhereEachPartitionLies() throws Exception {
    IndexBlock block = IndexBytes.small().decode();
    assertTrue(block.isWhole());
    assertEquals(100, block.partitionLength(0));
    assertEquals(0, block.partitionLength(1));
    assertEquals(4900, block.partitionLength(2));
    assertEquals(5000, block.length(0, 3));
    assertEquals(0, block.checksum(0));
    assertEquals(List.of("1:4096+100"), pieces(block, 0, 1));
    assertEquals(List.of(), pieces(block, 1, 2));
    assertEquals(List.of("1:4196+3900", "2:8192+1000"), pieces(block, 1, 3));
    assertEquals(List.of("1:4096+4000", "2:8192+1000"), pieces(block, 0, 3));
    assertEquals(List.of(), pieces(block, 3, 3));
    assertEquals(IndexBytes.GENERATION, IndexHeader.generationOf(IndexBytes.small().at(8), 8));
  }

  @Test
  void aFileComesWithItsKeys() throws Exception {
    IndexBlock block = IndexBytes.inFile().decode();
    assertEquals(List.of("77:0+100"), pieces(block, 0, 1));
    assertEquals(List.of("77:100+4900"), pieces(block, 1, 3));
    assertEquals(
        new SlabDescriptor(
            77,
            5000,
            List.of(
                new SlabDescriptor.Registration("shm", 1003, -3),
                new SlabDescriptor.Registration("rdma", 1004, -4))),
        block.fileWindow(77));
    assertNull(block.fileWindow(1), "it knows of no slab");
    assertNull(IndexBytes.small().decode().fileWindow(1));
  }

  @Test
  void aWindowThatIsNotTheWholeOfOneIsCorrupt() {
    for (long[] wrong :
        new long[][] {{1, 5000, 77, 0}, {0, 0, 77, 0}, {0, 5000, -1, 0}, {0, 5000, 77, 1}}) {
      IndexBytes bytes = IndexBytes.inFile();
      bytes.extents[0] = wrong;
      CorruptIndexException failure = assertThrows(CorruptIndexException.class, bytes::decode);
      assertTrue(failure.getMessage().contains("file window"), failure.getMessage());
    }
    IndexBytes tooLong = IndexBytes.inFile();
    tooLong.extents[0][1] = (1L << 30) + 1;
    assertThrows(CorruptIndexException.class, tooLong::decode);
  }

  @Test
  void checksumsComeWithTheirAlgorithm() throws Exception {
    IndexBlock block = IndexBytes.small().withChecksums(3, 11, 0, -12).decode();
    assertEquals(ChecksumAlgorithm.CRC32C, block.header().checksumAlgorithm());
    assertEquals(11, block.checksum(0));
    assertEquals(-12, block.checksum(2));
  }

  @Test
  void anOutputBeyondTwoGibibytesKeepsItsOffsets() throws Exception {
    IndexBytes bytes = IndexBytes.small();
    long slab = Integer.MAX_VALUE - 4095 - 4096L;
    bytes.extents = new long[][] {{4096, slab, 9, 0}, {4096, slab, 9, 0}, {4096, 64, 1, 0}};
    bytes.extentCount = 3;
    bytes.offsets = new long[] {0, slab - 1, slab + 1, 2 * slab + 64};
    IndexBlock block = bytes.decode();
    assertEquals(List.of("9:4096+" + (slab - 1)), pieces(block, 0, 1));
    assertEquals(List.of("9:" + (4096 + slab - 1) + "+1", "9:4096+1"), pieces(block, 1, 2));
    assertEquals(List.of("9:4097+" + (slab - 1), "1:4096+64"), pieces(block, 2, 3));
  }

  @Test
  void anOutputWithoutBytesHasNoExtents() throws Exception {
    IndexBytes bytes = IndexBytes.small();
    bytes.offsets = new long[4];
    bytes.extents = new long[0][];
    bytes.extentCount = 0;
    assertEquals(List.of(), pieces(bytes.decode(), 0, 3));
  }

  @Test
  void aSliceKnowsItsPartitionsAndNoOthers() throws Exception {
    IndexBytes bytes = IndexBytes.small().withChecksums(1, 11, 22, 33);
    ByteBuffer whole = bytes.at(0);
    IndexHeader header =
        IndexHeader.decode(
            whole, 0, bytes.location(), IndexBytes.SHUFFLE_ID, IndexBytes.MAP_TASK_ID, 3);
    ByteBuffer parts = ByteBuffer.allocate(1000);
    parts.put(5, whole, header.offsetPosition(1), 16);
    parts.put(100, whole, header.checksumPosition(1), 8);
    parts.put(200, whole, header.extentsPosition(), header.extentsLength());
    IndexBlock slice =
        IndexBlock.decodeSlice(header, 1, 2, parts, 5, 100, 200, IndexBytes::slabLength);
    assertFalse(slice.isWhole());
    assertEquals(0, slice.partitionLength(1));
    assertEquals(22, slice.checksum(1));
    assertThrows(IndexOutOfBoundsException.class, () -> slice.partitionLength(0));
    assertThrows(IndexOutOfBoundsException.class, () -> slice.checksum(2));
    assertThrows(IndexOutOfBoundsException.class, () -> pieces(slice, 1, 3));

    parts.put(5, whole, header.offsetPosition(2), 16);
    IndexBlock last =
        IndexBlock.decodeSlice(header, 2, 3, parts, 5, 100, 200, IndexBytes::slabLength);
    assertEquals(List.of("1:4196+3900", "2:8192+1000"), pieces(last, 2, 3));
    assertThrows(
        CorruptIndexException.class,
        () -> IndexBlock.decodeSlice(header, 1, 2, parts, 5, 100, 999, IndexBytes::slabLength));
    assertThrows(
        CorruptIndexException.class,
        () -> IndexBlock.decodeSlice(header, 1, 2, parts, 5, 100, -1, IndexBytes::slabLength));
  }

  @Test
  void whatTheBuilderWritesIsWhatAReaderDecodes() throws Exception {
    long seed = Pools.seed("IndexBlockTest");
    Random random = new Random(seed);
    try (SlabPool pool = Pools.of(new TestSlabs(), 64 << 20, 1 << 20);
        BlockStore store = new BlockStore(pool)) {
      for (int round = 0; round < 50; round++) {
        int partitions = 1 + random.nextInt(300);
        MapOutputBuilder builder = store.begin(round, 1000 + round, partitions);
        for (int i = random.nextInt(3); i < partitions; i += 1 + random.nextInt(4)) {
          builder.startPartition(i);
          builder.write(Pools.randomBytes(random, random.nextInt(20_000)), 0, 0);
          byte[] bytes = Pools.randomBytes(random, random.nextInt(20_000));
          builder.write(bytes, 0, bytes.length);
        }
        long[] lengths = builder.partitionLengths();
        boolean hasChecksums = random.nextBoolean();
        long[] checksums = hasChecksums ? random.longs(partitions).toArray() : new long[0];
        MapOutput output =
            builder.commit(
                checksums, hasChecksums ? ChecksumAlgorithm.CRC32 : ChecksumAlgorithm.NONE);
        IndexBlock block = Readers.readIndex(pool, output);
        assertArrayEquals(checksums, output.checksums());
        for (int i = 0; i < partitions; i++) {
          assertEquals(lengths[i], block.partitionLength(i), "seed=" + seed);
          assertEquals(lengths[i], output.partitionLength(i), "seed=" + seed);
          assertEquals(hasChecksums ? checksums[i] : 0, block.checksum(i), "seed=" + seed);
        }
        int start = random.nextInt(partitions + 1);
        int end = start + random.nextInt(partitions + 1 - start);
        assertArrayEquals(
            Readers.bytesOf(output.slices(start, end)),
            Readers.readPieces(pool, block, start, end),
            "seed=" + seed);
        if (random.nextBoolean()) {
          store.remove(round, 1000 + round);
        }
      }
    }
  }

  @Test
  void anotherGenerationIsStale() {
    assertStale(bytes -> bytes.generation++);
  }

  @Test
  void aVoidedGenerationIsStale() {
    assertStale(bytes -> bytes.generation = 0);
  }

  @Test
  void generationZeroIsStaleEvenIfPublished() {
    IndexBytes bytes = IndexBytes.small();
    bytes.generation = 0;
    IndexLocation location = new IndexLocation(3, 4096, bytes.length(), 0);
    assertThrows(
        StaleIndexException.class,
        () ->
            IndexHeader.decode(
                bytes.at(0), 0, location, IndexBytes.SHUFFLE_ID, IndexBytes.MAP_TASK_ID, 3));
  }

  @Test
  void memoryUsedForSomethingElseIsStaleNotCorrupt() {
    assertStale(
        bytes -> {
          bytes.generation = 99;
          bytes.magic = 99;
          bytes.numPartitions = -1;
        });
  }

  @Test
  void anotherMagicIsCorrupt() {
    assertCorrupt(bytes -> bytes.magic++, "magic");
  }

  @Test
  void anotherVersionIsCorrupt() {
    assertCorrupt(bytes -> bytes.version++, "version");
  }

  @Test
  void anotherShuffleIsCorrupt() {
    assertCorrupt(bytes -> bytes.shuffleId++, "shuffleId");
  }

  @Test
  void anotherMapTaskIsCorrupt() {
    assertCorrupt(bytes -> bytes.mapTaskId++, "mapTaskId");
  }

  @Test
  void anotherNumberOfPartitionsIsCorrupt() {
    assertCorrupt(bytes -> bytes.numPartitions++, "numPartitions");
    assertCorrupt(bytes -> bytes.numPartitions = Integer.MAX_VALUE, "numPartitions");
    assertCorrupt(bytes -> bytes.numPartitions = -1, "numPartitions");
  }

  @Test
  void aNumberOfPartitionsThatTheLengthDoesNotJustifyIsCorrupt() {
    for (int claimed : new int[] {-1, Integer.MIN_VALUE, 4, 1 << 28, Integer.MAX_VALUE}) {
      IndexBytes bytes = IndexBytes.small();
      bytes.numPartitions = claimed;
      ByteBuffer block = bytes.at(0);
      assertEquals(claimed, IndexHeader.numPartitionsOf(block, 0));
      assertThrows(
          CorruptIndexException.class,
          () ->
              IndexBlock.decode(
                  block,
                  0,
                  bytes.location(),
                  IndexBytes.SHUFFLE_ID,
                  IndexBytes.MAP_TASK_ID,
                  IndexHeader.numPartitionsOf(block, 0),
                  IndexBytes::slabLength));
    }
    assertEquals(-1, IndexHeader.numPartitionsOf(ByteBuffer.allocate(39), 0));
  }

  @Test
  void anExtentCountThatLiesIsCorrupt() {
    for (int claimed : new int[] {-1, Integer.MIN_VALUE, 0, 1, 3, 1 << 28, Integer.MAX_VALUE}) {
      assertCorrupt(bytes -> bytes.extentCount = claimed, "");
    }
  }

  @Test
  void anUnknownChecksumAlgorithmIsCorrupt() {
    assertCorrupt(bytes -> bytes.algorithm = 4, "checksumAlgorithm");
    assertCorrupt(bytes -> bytes.algorithm = -1, "checksumAlgorithm");
  }

  @Test
  void checksumsThatAreNotThereAreCorrupt() {
    assertCorrupt(bytes -> bytes.algorithm = 1, "length");
  }

  @Test
  void keysThatAreNotThereOrTooManyAreCorrupt() {
    assertCorrupt(bytes -> bytes.keysPerExtent = 1, "length");
    assertCorrupt(bytes -> bytes.keysPerExtent = 9, "keys=9");
    assertCorrupt(bytes -> bytes.keysPerExtent = -1, "keys=-1");
  }

  @Test
  void offsetsThatDecreaseAreCorrupt() {
    assertCorrupt(bytes -> bytes.offsets[2] = 99, "offset");
    assertCorrupt(bytes -> bytes.offsets[1] = -1, "offset");
    assertCorrupt(bytes -> bytes.offsets[3] = Long.MIN_VALUE, "offset");
  }

  @Test
  void offsetsThatDoNotBeginAtZeroAreCorrupt() {
    assertCorrupt(bytes -> bytes.offsets[0] = 1, "offset");
  }

  @Test
  void offsetsThatEndElsewhereThanTheExtentsAreCorrupt() {
    assertCorrupt(bytes -> bytes.offsets[3] = 4999, "offset");
    assertCorrupt(bytes -> bytes.offsets[3] = 5001, "offset");
    assertCorrupt(bytes -> bytes.offsets[3] = Long.MAX_VALUE, "offset");
    assertCorrupt(bytes -> bytes.extents[1][1] = 999, "offset");
  }

  @Test
  void anExtentInTheSlabHeaderIsCorrupt() {
    assertCorrupt(bytes -> bytes.extents[0][0] = 4095, "extent");
    assertCorrupt(bytes -> bytes.extents[0][0] = 0, "extent");
    assertCorrupt(bytes -> bytes.extents[0][0] = -4096, "extent");
  }

  @Test
  void anExtentBeyondTheSlabIsCorrupt() {
    assertCorrupt(bytes -> bytes.extents[0][0] = (1 << 20) - 3999, "extent");
    assertCorrupt(bytes -> bytes.extents[0][0] = 1 << 20, "extent");
    assertCorrupt(bytes -> bytes.extents[0][0] = Long.MAX_VALUE - 100, "extent");
    assertCorrupt(bytes -> bytes.extents[0][0] = (1L << 32) + 4096, "extent");
  }

  @Test
  void anExtentOfNoOrOverflowingLengthIsCorrupt() {
    for (long length : new long[] {0, -1, Long.MIN_VALUE, Long.MAX_VALUE, 1L << 32, 1 << 20}) {
      assertCorrupt(bytes -> bytes.extents[0][1] = length, "extent");
    }
  }

  @Test
  void anExtentInASlabThatDoesNotExistIsCorrupt() {
    assertCorrupt(bytes -> bytes.extents[1][2] = 3, "extent");
    assertCorrupt(bytes -> bytes.extents[1][2] = -1, "extent");
  }

  @Test
  void reservedBitsOfAnExtentAreCorrupt() {
    assertCorrupt(bytes -> bytes.extents[1][3] = 1, "extent");
  }

  @Test
  void tooFewBytesAreCorrupt() {
    IndexBytes bytes = IndexBytes.small();
    for (int limit : new int[] {0, 39, 40, bytes.length() - 1}) {
      ByteBuffer cut = bytes.at(0).limit(limit);
      assertThrows(
          CorruptIndexException.class,
          () ->
              IndexBlock.decode(
                  cut,
                  0,
                  bytes.location(),
                  IndexBytes.SHUFFLE_ID,
                  IndexBytes.MAP_TASK_ID,
                  3,
                  IndexBytes::slabLength));
    }
  }

  @Test
  void aPublishedLengthThatLiesIsCorrupt() {
    IndexBytes bytes = IndexBytes.small();
    for (int length : new int[] {Integer.MIN_VALUE, -1, 0, 40, bytes.length() + 8}) {
      IndexLocation location = new IndexLocation(3, 4096, length, IndexBytes.GENERATION);
      assertThrows(
          CorruptIndexException.class,
          () ->
              IndexBlock.decode(
                  bytes.at(0),
                  0,
                  location,
                  IndexBytes.SHUFFLE_ID,
                  IndexBytes.MAP_TASK_ID,
                  3,
                  IndexBytes::slabLength));
    }
  }

  private static void assertStale(Consumer<IndexBytes> change) {
    IndexBytes bytes = IndexBytes.small();
    change.accept(bytes);
    assertThrows(StaleIndexException.class, bytes::decode);
  }

  private static void assertCorrupt(Consumer<IndexBytes> change, String what) {
    IndexBytes bytes = IndexBytes.small();
    change.accept(bytes);
    CorruptIndexException e = assertThrows(CorruptIndexException.class, bytes::decode);
    assertTrue(e.getMessage().contains(what), e.getMessage());
  }

  private static List<String> pieces(IndexBlock block, int start, int end) {
    List<String> pieces = new ArrayList<>();
    block.forEachPiece(
        start, end, (slabId, offset, length) -> pieces.add(slabId + ":" + offset + "+" + length));
    return pieces;
  }
}
