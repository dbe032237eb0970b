package io.rdmashuffle.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class IndexBlockCacheTest {
  private static final long GENERATION = IndexBytes.GENERATION;

  private final IndexBlockCache cache = new IndexBlockCache(10_000);

  @Test
  void aBlockIsFoundByOwnerAndMapTask() throws Exception {
    IndexBlock block = block(1, 2);
    assertTrue(cache.put("a", block));
    assertSame(block, cache.get("a", 1, 2, GENERATION));
    assertNull(cache.get("b", 1, 2, GENERATION));
    assertNull(cache.get("a", 2, 2, GENERATION));
    assertNull(cache.get("a", 1, 3, GENERATION));
  }

  @Test
  void anotherGenerationDropsTheBlock() throws Exception {
    cache.put("a", block(1, 2));
    assertNull(cache.get("a", 1, 2, GENERATION + 1));
    assertEquals(0, cache.size());
    assertEquals(0, cache.bytes());
  }

  @Test
  void theBudgetHoldsAndTheLeastRecentlyUsedGoesFirst() throws Exception {
    int count = 0;
    while (cache.size() == count) {
      cache.put("a", block(1, count));
      count++;
      cache.get("a", 1, 0, GENERATION);
      assertTrue(cache.bytes() <= 10_000);
    }
    assertEquals(0, cache.get("a", 1, 0, GENERATION).header().mapTaskId());
    assertNull(cache.get("a", 1, 1, GENERATION));
    assertTrue(count > 20, "count=" + count);
  }

  @Test
  void replacingABlockCountsItOnce() throws Exception {
    cache.put("a", block(1, 2));
    long bytes = cache.bytes();
    cache.put("a", block(1, 2));
    assertEquals(bytes, cache.bytes());
    assertEquals(1, cache.size());
  }

  @Test
  void blocksAreDroppedByShuffleOwnerAndMapTask() throws Exception {
    for (int i = 0; i < 4; i++) {
      cache.put("a", block(1, i));
      cache.put("b", block(2, i));
      cache.put("b", block(3, i));
    }
    cache.dropShuffle(2);
    assertEquals(8, cache.size());
    cache.dropOwner("a");
    assertEquals(4, cache.size());
    cache.drop("b", 3, 0);
    cache.drop("b", 3, 0);
    assertEquals(3, cache.size());
    cache.dropShuffle(3);
    assertEquals(0, cache.size());
    assertEquals(0, cache.bytes());
  }

  @Test
  void whatExceedsTheBudgetOrIsNotWholeIsNotKept() throws Exception {
    assertFalse(new IndexBlockCache(0).put("a", block(1, 2)));
    IndexBytes bytes = IndexBytes.small();
    ByteBuffer whole = bytes.at(0);
    IndexHeader header =
        IndexHeader.decode(
            whole, 0, bytes.location(), IndexBytes.SHUFFLE_ID, IndexBytes.MAP_TASK_ID, 3);
    IndexBlock slice =
        IndexBlock.decodeSlice(
            header,
            0,
            1,
            whole,
            header.offsetPosition(0),
            0,
            header.extentsPosition(),
            IndexBytes::slabLength);
    assertFalse(cache.put("a", slice));
    assertThrows(IllegalArgumentException.class, () -> new IndexBlockCache(-1));
  }

  @Test
  void manyThreadsKeepItWithinTheBudget() throws Exception {
    long seed = Pools.seed("IndexBlockCacheTest");
    ExecutorService threads = Executors.newFixedThreadPool(4);
    List<Future<?>> work = new ArrayList<>();
    for (int t = 0; t < 4; t++) {
      Random random = new Random(seed + t);
      work.add(
          threads.submit(
              () -> {
                for (int i = 0; i < 5000; i++) {
                  String owner = "owner" + random.nextInt(3);
                  int shuffleId = random.nextInt(3);
                  switch (random.nextInt(10)) {
                    case 0 -> cache.dropShuffle(shuffleId);
                    case 1 -> cache.dropOwner(owner);
                    case 2, 3, 4 -> cache.get(owner, shuffleId, random.nextInt(50), GENERATION);
                    default -> cache.put(owner, block(shuffleId, random.nextInt(50)));
                  }
                  assertTrue(cache.bytes() <= 10_000 && cache.bytes() >= 0);
                }
                return null;
              }));
    }
    for (Future<?> each : work) {
      each.get();
    }
    threads.shutdown();
    for (int i = 0; i < 3; i++) {
      cache.dropShuffle(i);
    }
    assertEquals(0, cache.bytes());
  }

  private static IndexBlock block(int shuffleId, long mapTaskId) throws InvalidIndexException {
    IndexBytes bytes = IndexBytes.small();
    bytes.shuffleId = shuffleId;
    bytes.mapTaskId = mapTaskId;
    return IndexBlock.decode(
        bytes.at(0), 0, bytes.location(), shuffleId, mapTaskId, 3, IndexBytes::slabLength);
  }
}
