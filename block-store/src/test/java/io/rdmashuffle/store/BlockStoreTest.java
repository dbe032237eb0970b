package io.rdmashuffle.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.transport.Deadline;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class BlockStoreTest {
  private static final int MIB = 1 << 20;
  private static final SlabPoolGauges NOTHING = new SlabPoolGauges(0, 0, 0, 0, 0, 0);

  private final TestSlabs slabs = new TestSlabs();
  private final FakeClock clock = new FakeClock();
  private final FakeTransport shm = new FakeTransport("shm");
  private final SlabPool pool = Pools.of(slabs, 8 * MIB, 2 * MIB, List.of(shm), clock);
  private final BlockStore store = new BlockStore(pool);

  @AfterEach
  void everythingIsClosed() {
    store.close();
    assertEquals(0, slabs.openCount());
    assertEquals(0, shm.counters.registeredSlabs.sum());
    assertFalse(shm.closedAfterMemory);
    assertEquals(NOTHING, pool.gauges());
    assertEquals(0, store.outputCount());
    assertEquals(0, store.dataBytes());
  }

  @Test
  void anOutputIsKnownOnceItIsCommitted() throws Exception {
    MapOutputBuilder builder = store.begin(1, 2, 1);
    builder.startPartition(0);
    builder.write(new byte[100], 0, 100);
    assertFalse(store.contains(1, 2));
    MapOutput output = builder.commit();
    assertSame(output, store.get(1, 2));
    assertNull(store.get(1, 3));
    assertNull(store.get(2, 2));
    assertEquals(List.of(output), store.outputs());
    assertEquals(1, store.outputCount());
    assertEquals(100, store.dataBytes());
  }

  @Test
  void anAbortedAttemptLeavesNothingBehind() throws Exception {
    try (MapOutputBuilder builder = store.begin(1, 2, 1)) {
      builder.startPartition(0);
      builder.write(new byte[3 * MIB], 0, 3 * MIB);
    }
    assertFalse(store.contains(1, 2));
    assertEquals(0, pool.gauges().extents());
    assertEquals(4L * MIB - 2 * 4096, pool.gauges().freeBytes());
  }

  @Test
  void aSecondCommitReplacesTheFirstThroughQuarantine() throws Exception {
    MapOutputBuilder one = store.begin(1, 2, 1);
    MapOutputBuilder two = store.begin(1, 2, 1);
    one.startPartition(0);
    two.startPartition(0);
    one.writeByte(1);
    two.writeByte(2);
    MapOutput first = one.commit();
    MapOutput second = two.commit();
    assertSame(second, store.get(1, 2));
    assertEquals(1, store.outputCount());
    assertEquals(1, store.dataBytes());
    assertNotEquals(first.location().generation(), second.location().generation());
    assertThrows(StaleIndexException.class, () -> Readers.readIndex(pool, first));
    Readers.readIndex(pool, second);
    assertEquals(128, pool.gauges().quarantinedBytes());
    assertThrows(IllegalStateException.class, () -> first.slices(0, 1));
  }

  @Test
  void removalVoidsAtOnceAndReusesAfterTheQuarantine() throws Exception {
    MapOutput output = write(1, 2, 7 * MIB, 5);
    assertTrue(store.remove(1, 2));
    assertFalse(store.remove(1, 2));
    assertThrows(StaleIndexException.class, () -> Readers.readIndex(pool, output));
    assertThrows(BudgetSpentException.class, () -> write(1, 3, 7 * MIB, 6));
    clock.advance(Pools.QUARANTINE);
    write(1, 3, 7 * MIB, 6);
  }

  @Test
  void theGenerationIsVoidBeforeTheQuarantineBegins() throws Exception {
    MapOutput[] output = new MapOutput[1];
    List<ByteBuffer> memory = new ArrayList<>();
    List<Long> seen = new ArrayList<>();
    // The pool asks for the time when an extent is retired.
    SlabPool watched =
        Pools.of(
            new TestSlabs(),
            MIB,
            MIB,
            List.of(),
            () -> {
              if (output[0] != null) {
                IndexLocation location = output[0].location();
                seen.add(Generations.get(memory.get(0), location.offset()));
              }
              return System.nanoTime();
            });
    try (BlockStore watchedStore = new BlockStore(watched)) {
      MapOutputBuilder builder = watchedStore.begin(1, 2, 1);
      output[0] = builder.commit();
      memory.add(watched.slabs().get(0).buffer());
      watchedStore.remove(1, 2);
    }
    assertEquals(List.of(Generations.VOID), seen);
  }

  @Test
  void outputsComeOldestFirstAndAreRemovedOnlyAsThemselves() throws Exception {
    MapOutput old = store.begin(5, 9, 1).commit();
    MapOutput replaced = store.begin(4, 1, 1).commit();
    MapOutput last = store.begin(5, 3, 1).commit();
    MapOutput current = store.begin(4, 1, 1).commit();
    assertEquals(List.of(old, last, current), store.outputs());
    assertFalse(store.remove(replaced));
    assertSame(current, store.get(4, 1));
    assertTrue(store.remove(current));
    assertFalse(store.remove(current));
    assertEquals(2, store.outputCount());
  }

  @Test
  void aShuffleIsBeingWrittenWhileAnAttemptIsOpen() throws Exception {
    MapOutputBuilder builder = store.begin(1, 2, 1);
    store.begin(1, 3, 1).abort();
    assertTrue(store.isBeingWritten(1));
    assertFalse(store.isBeingWritten(2));
    builder.commit();
    assertFalse(store.isBeingWritten(1));
  }

  @Test
  void removingAShuffleLeavesTheOthers() throws Exception {
    for (int i = 0; i < 10; i++) {
      write(1, i, 1000, i);
      write(2, i, 1000, i);
    }
    assertEquals(10, store.removeShuffle(1));
    assertEquals(0, store.removeShuffle(1));
    assertEquals(10, store.outputs().size());
    assertEquals(10_000, store.dataBytes());
    assertTrue(store.outputs().stream().allMatch(output -> output.shuffleId() == 2));
  }

  @Test
  void anAttemptThatCommitsAfterItsShuffleWasRemovedLeavesNothingBehind() throws Exception {
    MapOutputBuilder late = store.begin(1, 2, 1);
    late.startPartition(0);
    late.writeByte(1);
    store.removeShuffle(1);
    MapOutput output = late.commit();
    assertArrayEquals(new long[] {1}, late.partitionLengths());
    assertFalse(output.pin());
    assertFalse(store.contains(1, 2));
    assertEquals(0, store.outputCount());
    assertThrows(StaleIndexException.class, () -> Readers.readIndex(pool, output));
    clock.advance(Pools.QUARANTINE);
    write(1, 2, 7 * MIB, 1);
    assertTrue(store.contains(1, 2), "a shuffle may be computed again after its removal");
  }

  @Test
  void aPinnedOutputIsVoidButItsMemoryStays() throws Exception {
    MapOutput output = write(1, 2, 3 * MIB, 9);
    assertTrue(output.pin());
    assertTrue(output.pin());
    store.remove(1, 2);
    assertThrows(StaleIndexException.class, () -> Readers.readIndex(pool, output));
    clock.advance(Pools.QUARANTINE.multipliedBy(2));
    while (true) {
      try {
        write(1, store.outputCount() + 10L, MIB / 2, 1);
      } catch (BudgetSpentException e) {
        break;
      }
    }
    assertEquals(3 * MIB, output.partitionLength(0));
    for (ByteBuffer slice : output.slices(0, 1)) {
      assertTrue(slice.isReadOnly());
      while (slice.hasRemaining()) {
        assertEquals(9, slice.get());
      }
    }
    output.unpin();
    assertEquals(0, pool.gauges().quarantinedBytes());
    output.unpin();
    assertEquals(pool.gauges().quarantinedBytes(), 3 * MIB + 128);
    assertFalse(output.pin());
    assertThrows(IllegalStateException.class, output::unpin);
  }

  @Test
  void slicesSpanPartitionsWithoutCopying() throws Exception {
    MapOutputBuilder builder = store.begin(1, 2, 4);
    for (int i = 0; i < 4; i++) {
      builder.startPartition(i);
      builder.write(new byte[] {(byte) i, (byte) i}, 0, 2);
    }
    MapOutput output = builder.commit();
    assertEquals(1, output.slices(1, 3).size());
    assertArrayEquals(new byte[] {1, 1, 2, 2}, Readers.bytesOf(output.slices(1, 3)));
    assertEquals(List.of(), output.slices(2, 2));
    assertThrows(IndexOutOfBoundsException.class, () -> output.slices(1, 5));
    assertThrows(IndexOutOfBoundsException.class, () -> output.partitionLength(4));
  }

  @Test
  void generationsAreNeverTheSameNorVoid() {
    Set<Long> seen = new HashSet<>();
    for (int i = 0; i < 100_000; i++) {
      long generation = Generations.next();
      assertNotEquals(Generations.VOID, generation);
      assertTrue(seen.add(generation));
    }
  }

  @Test
  void nothingBeginsInAClosedStore() throws Exception {
    write(1, 2, 100, 1);
    store.close();
    assertThrows(IllegalStateException.class, () -> store.begin(1, 3, 1));
    assertFalse(store.contains(1, 2));
  }

  @Test
  void closeWaitsForAPin() throws Exception {
    MapOutput output = write(1, 2, 100, 1);
    output.pin();
    Thread reader =
        new Thread(
            () -> {
              sleep(100);
              output.slices(0, 1).get(0).get(99);
              output.unpin();
            });
    reader.start();
    store.close(Deadline.after(Duration.ofSeconds(20)));
    assertEquals(0, slabs.openCount());
    reader.join();
  }

  @Test
  void closeDoesNotWaitForeverAndNeverUnmapsUnderAReader() throws Exception {
    MapOutput output = write(1, 2, 100, 7);
    output.pin();
    long startNs = System.nanoTime();
    store.close(Deadline.after(Duration.ofMillis(50)));
    assertTrue(System.nanoTime() - startNs < Duration.ofSeconds(10).toNanos());
    assertEquals(1, slabs.openCount());
    assertEquals(0, shm.counters.registeredSlabs.sum());
    assertEquals(7, output.slices(0, 1).get(0).get(99));
    output.unpin();
    assertEquals(0, slabs.openCount());
  }

  @Test
  void aBuilderThatOutlivesTheStoreCanStillBeReadBack() throws Exception {
    MapOutputBuilder builder = store.begin(1, 2, 1);
    builder.startPartition(0);
    builder.write(new byte[100], 0, 100);
    store.close(Deadline.after(Duration.ZERO));
    assertThrows(BudgetSpentException.class, () -> builder.write(new byte[MIB], 0, MIB));
    long[] count = {0};
    builder.forEachWritten((partition, bytes) -> count[0] += bytes.remaining());
    assertEquals(100, count[0]);
    assertEquals(1, slabs.openCount());
    builder.abort();
    assertEquals(0, slabs.openCount());
  }

  @Test
  void aBuilderThatCommitsAfterTheStoreClosedLeavesNothing() throws Exception {
    MapOutputBuilder builder = store.begin(1, 2, 1);
    builder.startPartition(0);
    builder.write(new byte[100], 0, 100);
    store.close(Deadline.after(Duration.ZERO));
    assertFalse(builder.commit().pin());
    assertEquals(0, slabs.openCount());
  }

  @Test
  void manyThreadsWriteReadAndRemoveWithoutSeeingEachOthersBytes() throws Exception {
    long seed = Pools.seed("BlockStoreTest");
    ExecutorService threads = Executors.newFixedThreadPool(8);
    AtomicLong written = new AtomicLong();
    AtomicLong spent = new AtomicLong();
    AtomicLong checked = new AtomicLong();
    AtomicBoolean isDone = new AtomicBoolean();
    List<Future<?>> work = new ArrayList<>();
    for (int t = 0; t < 6; t++) {
      Random random = new Random(seed + t);
      work.add(
          threads.submit(
              () -> {
                for (int i = 0; i < 400; i++) {
                  int shuffleId = random.nextInt(4);
                  int mapTaskId = random.nextInt(20);
                  try {
                    write(
                        shuffleId, mapTaskId, random.nextInt(400_000), shuffleId * 20 + mapTaskId);
                    written.incrementAndGet();
                  } catch (BudgetSpentException e) {
                    spent.incrementAndGet();
                    clock.advance(Pools.QUARANTINE);
                  }
                  if (random.nextInt(3) == 0) {
                    store.remove(random.nextInt(4), random.nextInt(20));
                  } else if (random.nextInt(20) == 0) {
                    store.removeShuffle(random.nextInt(4));
                  }
                }
                return null;
              }));
    }
    List<Future<?>> checkers = new ArrayList<>();
    for (int t = 0; t < 2; t++) {
      checkers.add(
          threads.submit(
              () -> {
                while (!isDone.get()) {
                  for (MapOutput output : store.outputs()) {
                    if (output.pin()) {
                      int expected = output.shuffleId() * 20 + (int) output.mapTaskId();
                      for (ByteBuffer slice : output.slices(0, 1)) {
                        while (slice.hasRemaining()) {
                          assertEquals(expected, slice.get());
                        }
                      }
                      output.unpin();
                      checked.incrementAndGet();
                    }
                  }
                }
                return null;
              }));
    }
    for (Future<?> each : work) {
      each.get();
    }
    isDone.set(true);
    for (Future<?> each : checkers) {
      each.get();
    }
    threads.shutdown();
    System.out.printf("written=%s spent=%s checked=%s%n", written, spent, checked);
    assertTrue(spent.get() > 0 && written.get() > 0 && checked.get() > 0);
    Pools.assertBalanced(pool);
    for (int i = 0; i < 4; i++) {
      store.removeShuffle(i);
    }
    assertEquals(0, pool.gauges().allocatedBytes());
    clock.advance(Pools.QUARANTINE);
    for (int i = 0; i < 4; i++) {
      Extent whole = pool.allocate(2 * MIB - 4096, 2 * MIB - 4096);
      assertEquals(2 * MIB - 4096, whole.length(), "everything coalesced, seed=" + seed);
      pool.retire(whole);
    }
  }

  private MapOutput write(int shuffleId, long mapTaskId, int length, int value)
      throws BudgetSpentException {
    byte[] bytes = new byte[Math.min(length, 50_000)];
    Arrays.fill(bytes, (byte) value);
    try (MapOutputBuilder builder = store.begin(shuffleId, mapTaskId, 1)) {
      builder.startPartition(0);
      for (int left = length; left > 0; left -= bytes.length) {
        builder.write(bytes, 0, Math.min(left, bytes.length));
      }
      return builder.commit();
    }
  }

  private static void sleep(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
