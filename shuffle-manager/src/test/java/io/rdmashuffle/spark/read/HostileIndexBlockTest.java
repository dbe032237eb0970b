package io.rdmashuffle.spark.read;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.spark.directory.DirectoryException;
import io.rdmashuffle.spark.directory.OutputRecord;
import io.rdmashuffle.store.IndexHeader;
import io.rdmashuffle.store.MapOutput;
import io.rdmashuffle.store.SlabDescriptor;
import io.rdmashuffle.transport.SlabMemory;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;

/**
 * Index blocks that lie, in the memory of a peer that is broken or hostile. Each costs a counted
 * fallback, and leads to no read outside what the peer published.
 */
@Timeout(120)
final class HostileIndexBlockTest {
  /** Spoils an index block, which begins at a position of its slab. */
  private interface Spoiler {
    void spoil(Words words);
  }

  /** The 8-byte words of an index block without checksums, and the two halves of some. */
  private record Words(ByteBuffer slab, int at, int partitions) {
    void header(int position, int value) {
      slab.putInt(at + position, value);
    }

    void headerLong(int position, long value) {
      slab.putLong(at + position, value);
    }

    int offsetOf(int partition) {
      return at + IndexHeader.LENGTH + Long.BYTES * partition;
    }

    void offset(int partition, long value) {
      slab.putLong(offsetOf(partition), value);
    }

    long offset(int partition) {
      return slab.getLong(offsetOf(partition));
    }

    int extent(int number) {
      return offsetOf(partitions + 1) + IndexHeader.EXTENT_LENGTH * number;
    }

    void extentOffset(int number, long value) {
      slab.putLong(extent(number), value);
    }

    void extentLength(int number, long value) {
      slab.putLong(extent(number) + 8, value);
    }

    void extentSlab(int number, int value) {
      slab.putInt(extent(number) + 16, value);
    }
  }

  private static final int GENERATION = IndexHeader.GENERATION_POSITION;
  private static final int SHUFFLE_ID = 16;
  private static final int PARTITIONS = 20;
  private static final int MAP_TASK_ID = 24;
  private static final int EXTENT_COUNT = 32;
  private static final int ALGORITHM = 36;

  private TwoExecutors pair;

  /** Length of each published slab by its key. */
  private final Map<Integer, Integer> published = new HashMap<>();

  private int reads;
  private long nextMapTaskId;

  @BeforeEach
  void open() throws Exception {
    pair =
        new TwoExecutors(
            plain -> new SteppedTransport(plain, this::assertWithinWhatWasPublished),
            64 * TwoExecutors.SLAB_LENGTH,
            8);
  }

  @AfterEach
  void close() {
    pair.close();
  }

  private void assertWithinWhatWasPublished(int key, long address, int length) {
    reads++;
    int slabLength = published.getOrDefault(key, 0);
    assertTrue(
        address >= SlabMemory.HEADER_LENGTH && address + length <= slabLength,
        () -> "read of " + length + " at " + address + " of a slab of " + slabLength);
  }

  private static Map<String, Spoiler> spoilers() {
    Map<String, Spoiler> all = new LinkedHashMap<>();
    all.put("another magic", w -> w.header(0, 1));
    all.put("another version", w -> w.header(4, 2));
    all.put("another shuffle", w -> w.header(SHUFFLE_ID, 2));
    all.put("another map task", w -> w.headerLong(MAP_TASK_ID, 99));
    for (int partitions : new int[] {2, 4, 0, -1, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
      all.put("partitions=" + partitions, w -> w.header(PARTITIONS, partitions));
    }
    for (int extents : new int[] {0, 1, 5, -1, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
      all.put("extents=" + extents, w -> w.header(EXTENT_COUNT, extents));
    }
    for (int algorithm : new int[] {1, 99, -1, 1 << 16}) {
      all.put("algorithm and flags=" + algorithm, w -> w.header(ALGORITHM, algorithm));
    }
    all.put("offsets that decrease", w -> w.offset(1, w.offset(2) + 1));
    all.put("a first offset of 8", w -> w.offset(0, 8));
    all.put("a last offset beyond", w -> w.offset(w.partitions, w.offset(w.partitions) + 1));
    all.put("a last offset before", w -> w.offset(w.partitions, w.offset(w.partitions) - 1));
    for (long value : new long[] {-1, Long.MIN_VALUE, Long.MAX_VALUE, 1L << 32}) {
      all.put("an offset of " + value, w -> w.offset(1, value));
      all.put("a last offset of " + value, w -> w.offset(w.partitions, value));
      all.put("an extent at " + value, w -> w.extentOffset(0, value));
      all.put("an extent's length of " + value, w -> w.extentLength(1, value));
      all.put("all lengths of " + value, HostileIndexBlockTest::lengthsThatOverflow);
    }
    all.put("an empty extent", w -> w.extentLength(0, 0));
    all.put("an extent in a slab's header", w -> w.extentOffset(0, 0));
    all.put("an extent that begins in a slab's header", w -> w.extentOffset(0, 4088));
    all.put("an extent at a slab's end", w -> w.extentOffset(1, TwoExecutors.SLAB_LENGTH));
    all.put("an extent over a slab's end", w -> w.extentOffset(1, TwoExecutors.SLAB_LENGTH - 8));
    for (int slabId : new int[] {-1, 1 << 30, Integer.MIN_VALUE}) {
      all.put("an extent in slab " + slabId, w -> w.extentSlab(0, slabId));
    }
    return all;
  }

  /** Two lengths whose sum is that of the true ones, modulo 2^64. */
  private static void lengthsThatOverflow(Words words) {
    long total = words.offset(words.partitions);
    words.extentLength(0, Long.MAX_VALUE);
    words.extentLength(1, total - Long.MAX_VALUE);
  }

  @TestFactory
  List<DynamicTest> aSmallIndexBlockThatLiesCostsAFallback() {
    return spoilers().entrySet().stream()
        .map(e -> DynamicTest.dynamicTest(e.getKey(), () -> assertFallsBack(3, e.getValue())))
        .toList();
  }

  /** One that is read header first, then in slices. */
  @TestFactory
  List<DynamicTest> aLargeIndexBlockThatLiesCostsAFallback() {
    return spoilers().entrySet().stream()
        .map(e -> DynamicTest.dynamicTest(e.getKey(), () -> assertFallsBack(9_000, e.getValue())))
        .toList();
  }

  private void assertFallsBack(int partitions, Spoiler spoiler) throws Exception {
    assertFallsBack(partitions, spoiler, "BAD_INDEX");
  }

  @Test
  void anotherGenerationIsStale() throws Exception {
    for (int partitions : new int[] {3, 9_000}) {
      assertFallsBack(partitions, w -> w.headerLong(GENERATION, 0), "STALE");
      assertFallsBack(partitions, w -> w.headerLong(GENERATION, 77), "STALE");
    }
  }

  private void assertFallsBack(int partitions, Spoiler spoiler, String reason) throws Exception {
    int[] lengths = new int[partitions];
    Arrays.fill(lengths, 1_500_000 / partitions); // more than a slab holds
    MapOutput output = pair.write(1, nextMapTaskId++, lengths);
    notePublished();
    String name = "shuffle_1_" + output.mapTaskId() + "_0_" + partitions;
    long before = count("blocks.shm");
    pair.fetch(name).assertAllRight(pair::content);
    assertEquals(before + 1, count("blocks.shm"), "what is not spoilt is read one-sided");
    pair.indexCache.dropOwner(TwoExecutors.OWNER);

    ByteBuffer slab = pair.memoryOfSlab(output.location().slabId());
    byte[] good = new byte[output.location().length()];
    slab.get(output.location().offset(), good);
    spoiler.spoil(new Words(slab, output.location().offset(), partitions));
    assertNotEquals(ByteBuffer.wrap(good), slab.slice(output.location().offset(), good.length));
    long refused = count("fallbacks." + reason);
    pair.fetch(name).assertAllRight(pair::content);
    assertEquals(refused + 1, count("fallbacks." + reason), pair.accounting.snapshot()::toString);
    assertEquals(before + 1, count("blocks.shm"));
    assertEquals(0, pair.indexCache.size(), "what lies is not kept");
    slab.put(output.location().offset(), good); // the owner needs it
    pair.assertClean();
  }

  @Test
  void aLocationInASlabsHeaderIsNotFollowed() throws Exception {
    long[] offsets = {0, SlabMemory.HEADER_LENGTH - 8};
    for (int i = 0; i < offsets.length; i++) {
      long offset = offsets[i];
      pair.publishInstead(r -> at(r, r.slabId(), offset));
      pair.write(1, i, 10, 20);
      notePublished();
      pair.fetch("shuffle_1_" + i + "_0").assertAllRight(pair::content);
    }
    assertEquals(offsets.length, count("fallbacks.BAD_INDEX"));
    assertEquals(0, reads);
    pair.assertClean();
  }

  @Test
  void aLocationOutsideTheSlabsIsRefusedByTheDriver() {
    List<UnaryOperator<OutputRecord>> lies =
        List.of(
            r -> at(r, r.slabId(), TwoExecutors.SLAB_LENGTH - 8),
            r -> at(r, r.slabId(), TwoExecutors.SLAB_LENGTH),
            r -> at(r, r.slabId(), (1L << 32) + SlabMemory.HEADER_LENGTH),
            r -> at(r, r.slabId(), Long.MAX_VALUE),
            r -> at(r, 1 << 20, r.offset()));
    for (UnaryOperator<OutputRecord> lie : lies) {
      pair.publishInstead(lie);
      assertThrows(DirectoryException.class, () -> pair.write(1, nextMapTaskId++, 10, 20));
    }
  }

  private static OutputRecord at(OutputRecord record, int slabId, long offset) {
    return new OutputRecord(
        record.shuffleId(),
        record.mapTaskId(),
        slabId,
        offset,
        record.indexLength(),
        record.generation());
  }

  private void notePublished() {
    for (SlabDescriptor slab : pair.store.pool().slabTable().slabs()) {
      slab.registrations().forEach(r -> published.put(r.remoteKey(), slab.length()));
    }
  }

  private long count(String name) {
    return pair.accounting.snapshot().getOrDefault(name, 0L);
  }
}
