package io.rdmashuffle.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class MapOutputBuilderTest {
  private static final int KIB = 1 << 10;
  private static final int MIB = 1 << 20;

  private final Random random = new Random(1);
  private final TestSlabs slabs = new TestSlabs();
  private SlabPool pool;
  private BlockStore store;

  private void open(long budgetBytes, int slabLength) {
    pool = Pools.of(slabs, budgetBytes, slabLength);
    store = new BlockStore(pool);
  }

  @AfterEach
  void everythingIsClosed() {
    if (store != null) {
      Pools.assertBalanced(pool);
      store.close();
      assertEquals(0, slabs.openCount());
      assertEquals(0, pool.gauges().slabBytes());
    }
  }

  @Test
  void outputsOfEverySizeComeBackAsWritten() throws Exception {
    open(64L * MIB, 2 * MIB);
    int chunk = MapOutputBuilder.FIRST_CHUNK;
    int slab = 2 * MIB - Pools.HEADER;
    int[] sizes = {
      0,
      1,
      7,
      8,
      63,
      64,
      65,
      chunk - 1,
      chunk,
      chunk + 1,
      3 * chunk - 1,
      3 * chunk,
      3 * chunk + 1,
      slab - 1,
      slab,
      slab + 1,
      2 * slab - 1,
      2 * slab,
      2 * slab + 1,
      10 * MIB + 3
    };
    for (int size : sizes) {
      byte[] written = Pools.randomBytes(random, size);
      MapOutputBuilder builder = store.begin(1, size, 3);
      int first = size / 3;
      builder.startPartition(0);
      builder.write(written, 0, first);
      builder.startPartition(2);
      builder.write(ByteBuffer.wrap(written, first, size - first));
      MapOutput output = builder.commit();
      assertEquals(size, output.length());
      assertArrayEquals(new long[] {first, 0, size - first}, builder.partitionLengths());
      assertArrayEquals(written, Readers.bytesOf(output.slices(0, 3)), "size=" + size);
      IndexBlock index = Readers.readIndex(pool, output);
      assertArrayEquals(written, Readers.readPieces(pool, index, 0, 3), "size=" + size);
      assertEquals(0, output.location().offset() % 8);
      store.remove(1, size);
      pool.close();
      open(64L * MIB, 2 * MIB);
    }
  }

  @Test
  void everyWayOfWritingAppends() throws Exception {
    open(8 * MIB, MIB);
    MapOutputBuilder builder = store.begin(1, 1, 1);
    builder.startPartition(0);
    OutputStream stream = builder.outputStream();
    WritableByteChannel channel = builder.channel();
    ByteBuffer direct = ByteBuffer.allocateDirect(10).put(Pools.randomBytes(random, 10)).flip();
    List<byte[]> parts = new ArrayList<>();
    for (int i = 0; i < 3000; i++) {
      byte[] part = Pools.randomBytes(random, 200);
      builder.writeByte(part[0] | 0x7700);
      builder.write(part, 1, 49);
      stream.write(part, 50, 49);
      stream.write(part[99]);
      ByteBuffer rest = ByteBuffer.wrap(part, 100, 100);
      assertEquals(100, channel.write(rest));
      assertFalse(rest.hasRemaining());
      builder.write(direct.duplicate());
      parts.add(part);
      byte[] copy = new byte[10];
      direct.get(0, copy);
      parts.add(copy);
    }
    stream.flush();
    stream.close();
    assertThrows(IOException.class, () -> stream.write(1));
    assertTrue(channel.isOpen());
    MapOutput output = builder.commit();
    assertFalse(channel.isOpen());
    assertThrows(IOException.class, () -> channel.write(direct));
    assertArrayEquals(Readers.concat(parts), Readers.bytesOf(output.slices(0, 1)));
  }

  @Test
  void aStreamEndsWithItsPartition() throws Exception {
    open(MIB, MIB);
    MapOutputBuilder builder = store.begin(1, 1, 2);
    builder.startPartition(0);
    OutputStream stream = builder.outputStream();
    stream.write(1);
    builder.startPartition(1);
    assertThrows(IOException.class, () -> stream.write(2));
    builder.abort();
  }

  @Test
  void aSourceThatIsASliceOfItselfKeepsItsOrder() throws Exception {
    open(MIB, MIB);
    MapOutputBuilder builder = store.begin(1, 1, 1);
    builder.startPartition(0);
    byte[] bytes = {1, 2, 3, 4};
    builder.write(bytes, 1, 2);
    builder.write(bytes, 4, 0);
    builder.write(ByteBuffer.allocate(0));
    assertThrows(IndexOutOfBoundsException.class, () -> builder.write(bytes, 3, 2));
    assertArrayEquals(new byte[] {2, 3}, Readers.bytesOf(builder.commit().slices(0, 1)));
  }

  @Test
  void partitionsMustIncrease() throws Exception {
    open(MIB, MIB);
    try (MapOutputBuilder builder = store.begin(1, 1, 4)) {
      assertThrows(IllegalStateException.class, () -> builder.writeByte(1));
      assertThrows(IllegalStateException.class, builder::outputStream);
      builder.startPartition(1);
      assertThrows(IllegalArgumentException.class, () -> builder.startPartition(1));
      assertThrows(IllegalArgumentException.class, () -> builder.startPartition(0));
      assertThrows(IndexOutOfBoundsException.class, () -> builder.startPartition(4));
      assertThrows(IndexOutOfBoundsException.class, () -> builder.startPartition(-1));
    }
    assertThrows(IllegalArgumentException.class, () -> store.begin(1, 1, -1));
  }

  @Test
  void noPartitionsAtAllAreAnOutputToo() throws Exception {
    open(MIB, MIB);
    MapOutput output = store.begin(1, 1, 0).commit();
    assertEquals(0, Readers.readIndex(pool, output).length(0, 0));
    assertEquals(List.of(), output.slices(0, 0));
  }

  @Test
  void nothingMayFollowTheEnd() throws Exception {
    open(MIB, MIB);
    MapOutputBuilder committed = store.begin(1, 1, 1);
    committed.startPartition(0);
    MapOutput output = committed.commit();
    committed.abort();
    committed.close();
    assertSame(output, store.get(1, 1));
    assertThrows(IllegalStateException.class, () -> committed.writeByte(1));
    assertThrows(IllegalStateException.class, committed::commit);
    MapOutputBuilder aborted = store.begin(1, 2, 1);
    aborted.abort();
    aborted.abort();
    assertThrows(IllegalStateException.class, aborted::commit);
    assertThrows(IllegalStateException.class, () -> aborted.startPartition(0));
    assertThrows(IllegalStateException.class, () -> aborted.forEachWritten((p, b) -> {}));
  }

  @Test
  void checksumsMustBeOnePerPartition() throws Exception {
    open(MIB, MIB);
    try (MapOutputBuilder builder = store.begin(1, 1, 2)) {
      assertThrows(
          IllegalArgumentException.class,
          () -> builder.commit(new long[1], ChecksumAlgorithm.ADLER32));
      assertThrows(
          IllegalArgumentException.class,
          () -> builder.commit(new long[2], ChecksumAlgorithm.NONE));
      builder.commit(new long[2], ChecksumAlgorithm.ADLER32);
    }
  }

  @Test
  void whenTheBudgetIsSpentNothingOfTheCallIsWrittenAndAllBeforeCanBeReadBack() throws Exception {
    open(3 * MIB, MIB);
    byte[] written = Pools.randomBytes(random, 3 * MIB);
    MapOutputBuilder builder = store.begin(1, 1, 13);
    int length = 0;
    int spentAt = -1;
    int partition = -1;
    while (spentAt < 0) {
      if (length >= (partition + 1) * 300_000) {
        partition += partition == 3 ? 2 : 1;
        builder.startPartition(partition);
      }
      try {
        builder.write(written, length, 10_007);
        length += 10_007;
      } catch (BudgetSpentException e) {
        spentAt = length;
      }
    }
    assertEquals(spentAt, builder.length());
    assertThrows(BudgetSpentException.class, () -> builder.write(new byte[MIB], 0, MIB));
    ByteBuffer source = ByteBuffer.allocate(MIB);
    assertThrows(BudgetSpentException.class, () -> builder.write(source));
    assertEquals(MIB, source.remaining());
    assertEquals(spentAt, builder.length());
    assertEquals(spentAt, Arrays.stream(builder.partitionLengths()).sum());

    byte[][] replayed = new byte[13][0];
    builder.forEachWritten((p, bytes) -> replayed[p] = append(replayed[p], bytes));
    assertEquals(0, replayed[4].length);
    for (int i = 0; i < 13; i++) {
      assertEquals(builder.partitionLengths()[i], replayed[i].length);
    }
    assertArrayEquals(Arrays.copyOf(written, spentAt), Readers.concat(List.of(replayed)));
    builder.abort();
    assertEquals(0, pool.gauges().allocatedBytes());
    assertEquals(0, pool.gauges().quarantinedBytes());
    assertEquals(0, pool.gauges().extents());
  }

  @Test
  void theLastByteOfTheBudgetCanBeUsed() throws Exception {
    open(2 * MIB, MIB);
    long indexLength = new IndexHeader(1, 1, 1, 1, 2, ChecksumAlgorithm.NONE, 0).blockLength();
    int length = (int) pool.capacityBytes() - 128;
    assertTrue(indexLength <= 128);
    MapOutputBuilder builder = store.begin(1, 1, 1);
    builder.startPartition(0);
    builder.write(new byte[length], 0, length);
    builder.commit();
    assertEquals(0, pool.gauges().freeBytes());
  }

  @Test
  void aBuilderGoesOnAfterAWriteThatWasTooLarge() throws Exception {
    open(2 * MIB, MIB);
    MapOutputBuilder builder = store.begin(1, 1, 1);
    builder.startPartition(0);
    builder.writeByte(1);
    assertThrows(BudgetSpentException.class, () -> builder.write(new byte[3 * MIB], 0, 3 * MIB));
    builder.writeByte(2);
    MapOutput output = builder.commit();
    assertArrayEquals(new byte[] {1, 2}, Readers.bytesOf(output.slices(0, 1)));
    assertEquals(128, pool.gauges().allocatedBytes(), "what the write reserved is given back");
  }

  @Test
  void anIndexBlockThatFindsNoRoomLeavesTheBuilderAsItWas() throws Exception {
    open(MIB, MIB);
    int partitions = 200_000;
    MapOutputBuilder builder = store.begin(1, 1, partitions);
    builder.startPartition(7);
    builder.write(new byte[] {1, 2, 3}, 0, 3);
    assertThrows(BudgetSpentException.class, builder::commit);
    byte[][] replayed = {{}};
    builder.forEachWritten((p, bytes) -> replayed[0] = append(replayed[0], bytes));
    assertArrayEquals(new byte[] {1, 2, 3}, replayed[0]);
    builder.writeByte(4);
    assertFalse(store.contains(1, 1));
    builder.abort();
    assertEquals(0, pool.gauges().extents());
  }

  @Test
  void theIndexBlockLiesInTheTailOrElseInAnExtentOfItsOwn() throws Exception {
    open(2 * MIB, MIB);
    MapOutputBuilder builder = store.begin(1, 1, 10);
    builder.startPartition(0);
    builder.write(new byte[1001], 0, 1001);
    MapOutput inTail = builder.commit();
    assertEquals(Pools.HEADER + 1008, inTail.location().offset());
    assertEquals(1, pool.gauges().extents());

    int rest = (int) pool.gauges().freeBytes();
    MapOutputBuilder full = store.begin(1, 2, 10);
    full.startPartition(0);
    full.write(new byte[rest], 0, rest);
    MapOutput apart = full.commit();
    assertEquals(Pools.HEADER, apart.location().offset());
    assertEquals(3, pool.gauges().extents());
    assertEquals(rest, Readers.readPieces(pool, Readers.readIndex(pool, apart), 0, 10).length);
    store.remove(1, 2);
    assertEquals(1, pool.gauges().extents() - pool.slabTable().slabs().size());
  }

  @Test
  void aLargeOutputHasFewExtents() throws Exception {
    open(64 * MIB, 32 * MIB);
    MapOutputBuilder builder = store.begin(1, 1, 1);
    builder.startPartition(0);
    byte[] block = new byte[64 * KIB];
    for (int i = 0; i < 640; i++) {
      builder.write(block, 0, block.length);
    }
    builder.commit();
    assertEquals(2, pool.gauges().extents(), "alone in the pool, one run per slab");
  }

  @Test
  void writersSideBySideHaveFewExtentsToo() throws Exception {
    open(64 * MIB, 32 * MIB);
    List<MapOutputBuilder> builders = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      builders.add(store.begin(1, i, 1));
      builders.get(i).startPartition(0);
    }
    byte[] block = new byte[64 * KIB];
    for (int i = 0; i < 160; i++) {
      for (MapOutputBuilder builder : builders) {
        builder.write(block, 0, block.length);
      }
    }
    for (MapOutputBuilder builder : builders) {
      MapOutput output = builder.commit();
      int extents = Readers.readIndex(pool, output).header().extentCount();
      assertTrue(extents <= 12, "10 MiB in " + extents + " extents");
    }
  }

  @Test
  void beyondOneMebibyteTheOverheadIsBelowFivePercent() throws Exception {
    open(512L * MIB, 64 * MIB);
    for (int size : new int[] {MIB, MIB + 1, 5 * MIB + 17, 40 * MIB}) {
      for (int partitions : new int[] {1, 200, 2000}) {
        long before = pool.gauges().allocatedBytes();
        write(partitions, size, partitions, size);
        long taken = pool.gauges().allocatedBytes() - before;
        double overhead = (taken - size) / (double) size;
        System.out.printf(
            "overhead size=%d partitions=%d: %.3f %%%n", size, partitions, 100 * overhead);
        assertTrue(overhead < 0.05, "size=" + size + " taken=" + taken);
      }
    }
  }

  @Test
  void oneByteTakesLessThanFourKibibytes() throws Exception {
    open(MIB, MIB);
    write(1, 1, 200, 1);
    long taken = pool.gauges().allocatedBytes();
    System.out.println("one byte in 200 partitions takes " + taken);
    assertTrue(taken < 4096, "taken=" + taken);
  }

  private MapOutput write(int shuffleId, long mapTaskId, int partitions, int size)
      throws IOException {
    MapOutputBuilder builder = store.begin(shuffleId, mapTaskId, partitions);
    int written = 0;
    for (int i = 0; i < partitions; i++) {
      builder.startPartition(i);
      int end = (int) ((long) size * (i + 1) / partitions);
      builder.write(new byte[end - written], 0, end - written);
      written = end;
    }
    return builder.commit(new long[partitions], ChecksumAlgorithm.ADLER32);
  }

  private static byte[] append(byte[] head, ByteBuffer tail) {
    byte[] all = Arrays.copyOf(head, head.length + tail.remaining());
    tail.get(tail.position(), all, head.length, tail.remaining());
    return all;
  }
}
