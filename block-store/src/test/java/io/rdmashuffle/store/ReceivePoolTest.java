package io.rdmashuffle.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.transport.Access;
import io.rdmashuffle.transport.Deadline;
import io.rdmashuffle.transport.Transport;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ReceivePoolTest {
  private static final int MIB = 1 << 20;
  private static final int SLAB_DATA = MIB - Pools.HEADER;

  private final TestSlabs slabs = new TestSlabs();
  private final FakeTransport rdma = new FakeTransport("rdma");
  private final FakeClock clock = new FakeClock();
  private final ReceivePool pool =
      new ReceivePool(
          new SlabPool(
              "receive",
              slabs,
              List.<Transport>of(rdma),
              Access.LOCAL_WRITE,
              4 * MIB,
              MIB,
              0,
              clock));

  private final List<String> events = new ArrayList<>();
  private final List<ReceiveBuffer> received = new ArrayList<>();

  @AfterEach
  void everythingIsClosed() {
    assertEquals(0, pool.pool().gauges().allocatedBytes(), "leaked");
    assertEquals(0, pool.pool().gauges().quarantinedBytes());
    pool.close();
    pool.close();
    assertEquals(0, slabs.openCount());
    assertEquals(0, rdma.counters.registeredSlabs.sum());
  }

  @Test
  void aBufferIsOneRunOfARegisteredSlab() {
    ReceiveBuffer buffer = pool.tryAllocate(1000);
    assertEquals(1000, buffer.length());
    assertEquals(1, buffer.runCount());
    assertEquals(1000, buffer.contiguousAt(0));
    assertEquals(1, buffer.contiguousAt(999));
    assertEquals(Pools.HEADER + 5, buffer.slabOffsetAt(5));
    assertNotNull(buffer.slabAt(5).registered(rdma));
    assertEquals(Access.LOCAL_WRITE, rdma.lastAccess);
    assertThrows(IndexOutOfBoundsException.class, () -> buffer.slabAt(1000));
    buffer.release();
  }

  @Test
  void aBufferLongerThanASlabIsSeveralRuns() {
    long length = 3L * SLAB_DATA + 100;
    ReceiveBuffer buffer = pool.tryAllocate(length);
    assertEquals(4, buffer.runCount());
    assertEquals(1, buffer.contiguousAt(SLAB_DATA - 1));
    assertEquals(SLAB_DATA, buffer.contiguousAt(SLAB_DATA));
    assertEquals(100, buffer.contiguousAt(3L * SLAB_DATA));
    List<ByteBuffer> slices = buffer.slices(SLAB_DATA - 10, 20);
    assertEquals(2, slices.size());
    slices.get(0).putLong(0, 1);
    assertEquals(10, slices.get(1).remaining());
    assertEquals(length, buffer.slices(0, length).stream().mapToLong(ByteBuffer::remaining).sum());
    buffer.release();
  }

  @Test
  void aFragmentedPoolStillGivesABuffer() {
    List<ReceiveBuffer> buffers = new ArrayList<>();
    ReceiveBuffer next = pool.tryAllocate(100_000);
    while (next != null) {
      buffers.add(next);
      next = pool.tryAllocate(100_000);
    }
    for (int i = 0; i < buffers.size(); i += 2) {
      buffers.get(i).release();
    }
    ReceiveBuffer fragmented = pool.tryAllocate(500_000);
    assertTrue(fragmented.runCount() > 1);
    fragmented.release();
    for (int i = 1; i < buffers.size(); i += 2) {
      buffers.get(i).release();
    }
    ReceiveBuffer whole = pool.tryAllocate(SLAB_DATA);
    assertEquals(1, whole.runCount());
    whole.release();
  }

  @Test
  void theLastReleaseGivesTheMemoryBackAtOnce() {
    ReceiveBuffer buffer = pool.tryAllocate(pool.maxBufferLength());
    assertSame(buffer, buffer.retain());
    buffer.release();
    assertNull(pool.tryAllocate(1));
    buffer.release();
    assertThrows(IllegalStateException.class, buffer::release);
    assertThrows(IllegalStateException.class, buffer::retain);
    ReceiveBuffer again = pool.tryAllocate(pool.maxBufferLength());
    assertNotNull(again);
    again.release();
  }

  @Test
  void aRequestBeyondTheBudgetIsRefusedAtOnce() {
    assertEquals(4L * SLAB_DATA, pool.maxBufferLength());
    assertNull(pool.tryAllocate(pool.maxBufferLength() + 1));
    assertNull(pool.tryAllocate(Long.MAX_VALUE));
    assertFalse(pool.allocate(pool.maxBufferLength() + 1, deadline(), waiter("a")));
    assertEquals(0, slabs.attempts(), "no slab is made for what can never be");
    assertThrows(IllegalArgumentException.class, () -> pool.tryAllocate(0));
    assertEquals(List.of(), events);
  }

  @Test
  void waitersAreServedInOrderOfArrivalAndNobodyOvertakes() {
    ReceiveBuffer first = pool.tryAllocate(2L * SLAB_DATA);
    ReceiveBuffer second = pool.tryAllocate(2L * SLAB_DATA);
    assertTrue(pool.allocate(3L * SLAB_DATA, deadline(), waiter("large")));
    assertTrue(pool.allocate(100, deadline(), waiter("small")));
    assertEquals(2, pool.waiterCount());
    first.release();
    assertEquals(List.of(), events, "the small one must not starve the large one");
    assertNull(pool.tryAllocate(100));
    second.release();
    assertEquals(List.of("large got it", "small got it"), events);
    received.forEach(ReceiveBuffer::release);
  }

  @Test
  void aRequestThatNeedNotWaitIsServedAtOnce() {
    assertTrue(pool.allocate(3L * SLAB_DATA, deadline(), waiter("a")));
    assertEquals(List.of("a got it"), events);
    received.get(0).release();
  }

  @Test
  void aWaiterExpiresAtItsDeadlineAndLetsTheNextOneThrough() {
    ReceiveBuffer half = pool.tryAllocate(2L * SLAB_DATA);
    assertTrue(pool.allocate(3L * SLAB_DATA, new Deadline(1000), waiter("large")));
    assertTrue(pool.allocate(SLAB_DATA, new Deadline(2000), waiter("small")));
    assertEquals(0, pool.expireWaiters(999));
    assertEquals(1, pool.expireWaiters(1000));
    assertEquals(List.of("large expired", "small got it"), events);
    assertEquals(0, pool.expireWaiters(5000));
    half.release();
    received.get(0).release();
  }

  @Test
  void closingExpiresEveryWaiterAndLeavesLentSlabsMapped() {
    ReceiveBuffer all = pool.tryAllocate(pool.maxBufferLength());
    pool.allocate(1, deadline(), waiter("a"));
    pool.allocate(1, deadline(), waiter("b"));
    pool.close();
    assertEquals(List.of("a expired", "b expired"), events);
    assertFalse(pool.allocate(1, deadline(), waiter("c")));
    assertNull(pool.tryAllocate(1));
    assertEquals(4, slabs.openCount());
    all.slices(0, 8).get(0).putLong(0, 1);
    all.release();
    assertEquals(0, slabs.openCount());
  }

  @Test
  void aWaiterThatReleasesAtOnceDoesNotRecurse() {
    ReceiveBuffer all = pool.tryAllocate(pool.maxBufferLength());
    AtomicLong served = new AtomicLong();
    for (int i = 0; i < 20_000; i++) {
      pool.allocate(
          pool.maxBufferLength(),
          deadline(),
          new ReceivePool.Waiter() {
            @Override
            public void onBuffer(ReceiveBuffer buffer) {
              served.incrementAndGet();
              buffer.release();
            }

            @Override
            public void onExpired() {}
          });
    }
    all.release();
    assertEquals(20_000, served.get());
  }

  @Test
  void aWaiterThatThrowsDoesNotHoldUpTheOthers() {
    ReceiveBuffer all = pool.tryAllocate(pool.maxBufferLength());
    pool.allocate(
        100,
        deadline(),
        new ReceivePool.Waiter() {
          @Override
          public void onBuffer(ReceiveBuffer buffer) {
            buffer.release();
            throw new OutOfMemoryError("of a waiter");
          }

          @Override
          public void onExpired() {}
        });
    pool.allocate(100, deadline(), waiter("b"));
    all.release();
    assertEquals(List.of("b got it"), events);
    received.get(0).release();
  }

  @Test
  void aWaiterThatThrowsAtItsDeadlineDoesNotHoldUpTheOthers() {
    ReceiveBuffer all = pool.tryAllocate(pool.maxBufferLength());
    pool.allocate(
        100,
        new Deadline(1),
        new ReceivePool.Waiter() {
          @Override
          public void onBuffer(ReceiveBuffer buffer) {
            buffer.release();
          }

          @Override
          public void onExpired() {
            throw new OutOfMemoryError("of a waiter");
          }
        });
    pool.allocate(100, new Deadline(1), waiter("b"));
    assertEquals(2, pool.expireWaiters(2));
    assertEquals(List.of("b expired"), events);
    all.release();
  }

  /** To wait would only cost a task its deadline: nothing is lent that could come back. */
  @Test
  void whenNoSlabCanBeHadNobodyWaitsForOne() {
    slabs.isFull = true;
    assertFalse(pool.allocate(100, deadline(), waiter("a")));
    assertEquals(0, pool.waiterCount());
    slabs.isFull = false;
    clock.advance(Duration.ofSeconds(1));
    assertTrue(pool.allocate(100, deadline(), waiter("b")));
    assertEquals(List.of("b got it"), events);
    received.forEach(ReceiveBuffer::release);
  }

  @Test
  void whenNoFurtherSlabCanBeHadARequestWaitsIfTheSlabsThatThereAreSuffice() {
    ReceiveBuffer all = pool.tryAllocate(SLAB_DATA);
    slabs.isFull = true;
    assertFalse(pool.allocate(SLAB_DATA + 1, deadline(), waiter("large")));
    assertTrue(pool.allocate(SLAB_DATA, deadline(), waiter("small")));
    assertEquals(List.of(), events);
    all.release();
    assertEquals(List.of("small got it"), events);
    received.forEach(ReceiveBuffer::release);
  }

  @Test
  void aSlowSlabDoesNotHoldUpARelease() throws Exception {
    ReceiveBuffer buffer = pool.tryAllocate(SLAB_DATA);
    slabs.arrived = new CountDownLatch(1);
    slabs.gate = new CountDownLatch(1);
    ExecutorService threads = Executors.newSingleThreadExecutor();
    Future<ReceiveBuffer> slow = threads.submit(() -> pool.tryAllocate(SLAB_DATA));
    slabs.arrived.await();
    buffer.release();
    ReceiveBuffer other = pool.tryAllocate(100);
    assertFalse(slow.isDone());
    slabs.gate.countDown();
    slow.get().release();
    other.release();
    threads.shutdown();
  }

  @Test
  void manyThreadsAllGetTheirBuffersAndLeakNone() throws Exception {
    long seed = Pools.seed("ReceivePoolTest");
    ExecutorService threads = Executors.newFixedThreadPool(8);
    AtomicLong served = new AtomicLong();
    int perThread = 500;
    List<Future<?>> work = new ArrayList<>();
    for (int t = 0; t < 8; t++) {
      Random random = new Random(seed + t);
      work.add(
          threads.submit(
              () -> {
                for (int i = 0; i < perThread; i++) {
                  long bytes = 1 + (long) (random.nextDouble() * random.nextInt(3 * MIB));
                  CountDownLatch done = new CountDownLatch(1);
                  boolean isAccepted =
                      pool.allocate(
                          bytes,
                          deadline(),
                          new ReceivePool.Waiter() {
                            @Override
                            public void onBuffer(ReceiveBuffer buffer) {
                              served.incrementAndGet();
                              buffer.slices(0, buffer.length()).get(0).put(0, (byte) 1);
                              buffer.release();
                              done.countDown();
                            }

                            @Override
                            public void onExpired() {
                              done.countDown();
                            }
                          });
                  assertTrue(isAccepted);
                  done.await();
                }
                return null;
              }));
    }
    for (Future<?> each : work) {
      each.get();
    }
    threads.shutdown();
    assertEquals(8L * perThread, served.get());
    assertEquals(0, pool.waiterCount());
    Pools.assertBalanced(pool.pool());
  }

  private ReceivePool.Waiter waiter(String name) {
    return new ReceivePool.Waiter() {
      @Override
      public void onBuffer(ReceiveBuffer buffer) {
        events.add(name + " got it");
        received.add(buffer);
      }

      @Override
      public void onExpired() {
        events.add(name + " expired");
      }
    };
  }

  private static Deadline deadline() {
    return Deadline.after(Duration.ofMinutes(1));
  }
}
