package io.rdmashuffle.transport.sharedmemory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rdmashuffle.transport.PeerIdentity;
import io.rdmashuffle.transport.ProcFileSystem;
import io.rdmashuffle.transport.SlabFactories;
import io.rdmashuffle.transport.SlabFactory;
import io.rdmashuffle.transport.SlabMemory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class PeerSlabsTest {
  private static final int LENGTH = 64 * 1024;
  private static final int DATA = SlabMemory.HEADER_LENGTH;

  private final PeerIdentity peer = new PeerIdentity("app", "1", new byte[32]);
  private final LongAdder mappingCount = new LongAdder();
  private final ByteBuffer copied = ByteBuffer.allocateDirect(8);
  private final List<SlabMemory> created = new ArrayList<>();

  @TempDir private Path directory;
  private SlabFactory factory;
  private PeerSlabs slabs;

  @BeforeEach
  void open() throws Exception {
    factory = SlabFactories.open(directory, peer);
    assumeTrue(factory.shareable().isAvailable(), factory.shareable().cause());
    slabs = new PeerSlabs(peer, ProcFileSystem.SYSTEM.self(), mappingCount);
  }

  @AfterEach
  void close() throws Exception {
    slabs.close();
    assertEquals(0, mappingCount.sum());
    for (SlabMemory slab : created) {
      slab.close();
    }
  }

  @Test
  void slabIsMappedOnce() throws Exception {
    int key = create(1).descriptor();
    PeerSlab first = slabs.hold(key);
    PeerSlab second = slabs.hold(key);
    assertSame(first, second);
    assertEquals(1, mappingCount.sum());
    first.release();
    second.release();
    assertEquals(1, mappingCount.sum(), "kept for the next read");
  }

  @Test
  void manySlabsAreFound() throws Exception {
    for (int i = 0; i < 200; i++) {
      create(i);
    }
    for (int round = 0; round < 2; round++) {
      for (int i = 0; i < 200; i++) {
        assertEquals(i, read(created.get(i).descriptor()));
      }
    }
    assertEquals(200, mappingCount.sum());
  }

  @Test
  void newSlabWithTheDescriptorOfAnOldOneIsFoundInItsPlace() throws Exception {
    SlabMemory old = create(1);
    int key = old.descriptor();
    assertEquals(1, read(key));
    PeerSlab held = slabs.hold(key);
    old.close();
    SlabMemory successor = create(2);
    assumeTrue(successor.descriptor() == key, "the kernel gave another descriptor");
    assertEquals(2, read(key));
    assertEquals(2, mappingCount.sum(), "the old one as long as it is held");
    held.copyTo(copied, 0, DATA, 8);
    held.release();
    assertEquals(1, mappingCount.sum());
  }

  @Test
  void slabThatIsGoneIsLetGo() throws Exception {
    SlabMemory old = create(1);
    assertEquals(1, read(old.descriptor()));
    old.close();
    assertThrows(IOException.class, () -> slabs.hold(old.descriptor()));
    assertEquals(0, mappingCount.sum());
  }

  @Test
  void heldSlabOutlivesTheClose() throws Exception {
    PeerSlab held = slabs.hold(create(7).descriptor());
    slabs.close();
    assertEquals(1, mappingCount.sum());
    assertTrue(held.isLiving());
    held.release();
    assertEquals(0, mappingCount.sum());
    assertFalse(held.hold());
    assertThrows(IOException.class, () -> slabs.hold(created.get(0).descriptor()));
  }

  /** An access to unmapped memory would end the process. */
  @Test
  void manyThreadsHoldWhileItIsClosed() throws Exception {
    for (int round = 0; round < 100; round++) {
      PeerSlabs shared = new PeerSlabs(peer, ProcFileSystem.SYSTEM.self(), mappingCount);
      int key = round == 0 ? create(1).descriptor() : created.get(0).descriptor();
      AtomicInteger wrong = new AtomicInteger();
      CountDownLatch started = new CountDownLatch(3);
      List<Thread> threads = new ArrayList<>();
      for (int t = 0; t < 3; t++) {
        Thread thread = new Thread(() -> readUntilClosed(shared, key, started, wrong), "reader");
        thread.start();
        threads.add(thread);
      }
      started.await();
      shared.close();
      for (Thread thread : threads) {
        thread.join();
      }
      assertEquals(0, wrong.get());
      assertEquals(0, mappingCount.sum());
    }
  }

  @Test
  void oneSlabIsMappedOnceThoughManyThreadsAskForIt() throws Exception {
    int key = create(1).descriptor();
    AtomicInteger wrong = new AtomicInteger();
    List<Thread> threads = new ArrayList<>();
    for (int t = 0; t < 8; t++) {
      Thread thread =
          new Thread(
              () -> {
                try {
                  slabs.hold(key).release();
                } catch (IOException e) {
                  wrong.incrementAndGet();
                }
              },
              "asker");
      thread.start();
      threads.add(thread);
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertEquals(0, wrong.get());
    assertEquals(1, mappingCount.sum());
  }

  private static void readUntilClosed(
      PeerSlabs shared, int key, CountDownLatch started, AtomicInteger wrong) {
    ByteBuffer target = ByteBuffer.allocateDirect(LENGTH);
    boolean isFirst = true;
    try {
      while (true) {
        PeerSlab slab = shared.hold(key);
        slab.copyTo(target, 0, 0, LENGTH);
        slab.release();
        if (target.get(DATA) != 1) {
          wrong.incrementAndGet();
        }
        if (isFirst) {
          isFirst = false;
          started.countDown();
        }
      }
    } catch (IOException e) {
      // closed
    }
  }

  private SlabMemory create(long content) throws IOException {
    SlabMemory slab = factory.create(LENGTH);
    created.add(slab);
    slab.buffer().putLong(DATA, content);
    return slab;
  }

  private long read(int key) throws IOException {
    PeerSlab slab = slabs.hold(key);
    slab.copyTo(copied, 0, DATA, 8);
    slab.release();
    return copied.order(ByteOrder.LITTLE_ENDIAN).getLong(0);
  }
}
