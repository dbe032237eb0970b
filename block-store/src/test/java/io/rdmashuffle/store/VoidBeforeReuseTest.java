package io.rdmashuffle.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.transport.Access;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A reader that the owner knows nothing of, as one-sided readers are: it reads the generation, the
 * data, and the generation again. Every word of an output's data is its map task id, so bytes of
 * another output give themselves away.
 */
@Timeout(60)
class VoidBeforeReuseTest {
  private static final int MOST_WORDS = 2000;

  /** How often the reader comes back to one output, long after it was removed. */
  private static final int VISITS = 50;

  @Test
  void aReaderSeesTheOutputOrThatItIsGone() throws Exception {
    // No quarantine at all: only the order of voiding and reuse protects the reader.
    SlabPool pool =
        new SlabPool(
            "test",
            new TestSlabs(),
            List.of(),
            Access.REMOTE_READ,
            128 << 10,
            128 << 10,
            0,
            System::nanoTime);
    ExecutorService threads = Executors.newCachedThreadPool();
    long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(2);
    try (BlockStore store = new BlockStore(pool)) {
      // Two writers, so that what one gives back the other takes at any moment.
      AtomicReferenceArray<MapOutput> latest = new AtomicReferenceArray<>(2);
      latest.set(0, write(store, 0));
      latest.set(1, write(store, 1));
      Map<Integer, ByteBuffer> memory = Readers.memory(pool);
      List<Future<Long>> writers = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        int first = i;
        writers.add(threads.submit(() -> writeAndRemove(store, latest, first, endNs)));
      }
      long good = 0;
      long gone = 0;
      while (System.nanoTime() - endNs < 0) {
        MapOutput output = latest.get((int) (gone & 1));
        int visit = 0;
        while (visit < VISITS && readSays(memory, output)) {
          visit++;
        }
        good += visit;
        gone += visit < VISITS ? 1 : 0;
      }
      long outputs = writers.get(0).get() + writers.get(1).get();
      System.out.printf("outputs=%d good=%d gone=%d%n", outputs, good, gone);
      assertTrue(good > 0 && gone > 0);
    } finally {
      threads.shutdownNow();
    }
  }

  /** Writes the outputs first, first + 2, and so on; each replaces the one before. */
  private static long writeAndRemove(
      BlockStore store, AtomicReferenceArray<MapOutput> latest, int first, long endNs)
      throws Exception {
    long mapTaskId = first;
    while (System.nanoTime() - endNs < 0) {
      mapTaskId += 2;
      latest.set(first, writeWhenThereIsRoom(store, mapTaskId));
      store.remove(1, mapTaskId - 2);
      if (mapTaskId % 32 == first) {
        Thread.sleep(1);
      }
    }
    return mapTaskId / 2;
  }

  /** True: the data is the output's; false: the generation says that it cannot be trusted. */
  private static boolean readSays(Map<Integer, ByteBuffer> memory, MapOutput output) {
    IndexLocation location = output.location();
    ByteBuffer slab = memory.get(location.slabId());
    if (Generations.get(slab, location.offset()) != location.generation()) {
      return false;
    }
    int extent = location.offset() + location.length() - IndexHeader.EXTENT_LENGTH;
    int from = (int) slab.getLong(extent);
    long differing = 0;
    for (int i = 0; i < words(output.mapTaskId()); i++) {
      int at = from + Long.BYTES * i;
      if (at < 0 || at > slab.capacity() - Long.BYTES) {
        differing++;
      } else if (slab.getLong(at) != output.mapTaskId()) {
        differing++;
      }
    }
    VarHandle.loadLoadFence();
    if (Generations.get(slab, location.offset()) != location.generation()) {
      return false;
    }
    assertEquals(0, differing, "words of another output under a valid generation");
    return true;
  }

  private static MapOutput writeWhenThereIsRoom(BlockStore store, long mapTaskId) {
    while (true) {
      try {
        return write(store, mapTaskId);
      } catch (BudgetSpentException e) {
        // The other writer holds a whole chunk of the little there is, but not for long.
        Thread.onSpinWait();
      }
    }
  }

  private static MapOutput write(BlockStore store, long mapTaskId) throws BudgetSpentException {
    ByteBuffer word = ByteBuffer.allocate(Long.BYTES);
    try (MapOutputBuilder builder = store.begin(1, mapTaskId, 1)) {
      builder.startPartition(0);
      for (int i = words(mapTaskId); i > 0; i--) {
        builder.write(word.clear().putLong(Long.reverseBytes(mapTaskId)).flip());
      }
      return builder.commit();
    }
  }

  /** Outputs differ in length, so that new data does not meet old index blocks in step. */
  private static int words(long mapTaskId) {
    return 100 + (int) (mapTaskId * 7919 % (MOST_WORDS - 100));
  }
}
