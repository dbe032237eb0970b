package io.rdmashuffle.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.transport.Access;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A reader that the owner knows nothing of, as one-sided readers are: it reads the generation, the
 * data, and the generation again. Every word of an output's data is its map task id, so bytes of
 * another output give themselves away.
 */
@Timeout(60)
class VoidBeforeReuseTest {
  private static final int WORDS = 2000;

  @Test
  void aReaderSeesTheOutputOrThatItIsGone() throws Exception {
    // No quarantine at all: only the order of voiding and reuse protects the reader.
    SlabPool pool =
        new SlabPool(
            "test",
            new TestSlabs(),
            List.of(),
            Access.REMOTE_READ,
            64 << 10,
            64 << 10,
            0,
            System::nanoTime);
    ExecutorService threads = Executors.newCachedThreadPool();
    AtomicBoolean isDone = new AtomicBoolean();
    try (BlockStore store = new BlockStore(pool)) {
      MapOutput[] latest = {write(store, 0)};
      Map<Integer, ByteBuffer> memory = Readers.memory(pool);
      Future<long[]> reader =
          threads.submit(
              () -> {
                long good = 0;
                long gone = 0;
                while (!isDone.get()) {
                  MapOutput output;
                  synchronized (latest) {
                    output = latest[0];
                  }
                  if (readSays(memory, output)) {
                    good++;
                  } else {
                    gone++;
                  }
                }
                return new long[] {good, gone};
              });
      long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(2);
      long mapTaskId = 0;
      while (System.nanoTime() - endNs < 0 && !reader.isDone()) {
        mapTaskId++;
        MapOutput next = write(store, mapTaskId);
        synchronized (latest) {
          latest[0] = next;
        }
        store.remove(1, mapTaskId - 1);
        if (mapTaskId % 16 == 0) {
          Thread.sleep(1);
        }
      }
      isDone.set(true);
      long[] counts = reader.get();
      System.out.printf("outputs=%d good=%d gone=%d%n", mapTaskId, counts[0], counts[1]);
      assertTrue(counts[0] > 0 && counts[1] > 0);
    } finally {
      threads.shutdownNow();
    }
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
    for (int i = 0; i < WORDS; i++) {
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

  private static MapOutput write(BlockStore store, long mapTaskId) throws BudgetSpentException {
    ByteBuffer bytes = ByteBuffer.allocate(WORDS * Long.BYTES);
    while (bytes.hasRemaining()) {
      bytes.putLong(Long.reverseBytes(mapTaskId));
    }
    try (MapOutputBuilder builder = store.begin(1, mapTaskId, 1)) {
      builder.startPartition(0);
      builder.write(bytes.flip());
      return builder.commit();
    }
  }
}
