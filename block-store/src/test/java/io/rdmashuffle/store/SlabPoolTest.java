package io.rdmashuffle.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.transport.Access;
import io.rdmashuffle.transport.Deadline;
import io.rdmashuffle.transport.Transport;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class SlabPoolTest {
  private static final int MIB = 1 << 20;
  private static final SlabPoolGauges NOTHING = new SlabPoolGauges(0, 0, 0, 0, 0, 0);

  private final TestSlabs slabs = new TestSlabs();
  private final FakeClock clock = new FakeClock();

  @Test
  void noMemoryIsTakenBeforeTheFirstAllocation() {
    try (SlabPool pool = Pools.of(slabs, 4 * MIB, MIB)) {
      assertEquals(NOTHING, pool.gauges());
      assertEquals(0, pool.slabTable().version());
    }
  }

  @Test
  void slabsAreAddedUpToTheBudgetAndTheLastTakesTheRest() {
    try (SlabPool pool = Pools.of(slabs, 5 * MIB + 4096, 2 * MIB)) {
      assertEquals(2 * MIB - 4096, pool.allocate(2 * MIB - 4096, 2 * MIB - 4096).length());
      assertEquals(2 * MIB - 4096, pool.allocate(2 * MIB - 4096, 2 * MIB - 4096).length());
      assertNull(pool.allocate(2 * MIB - 4096, 2 * MIB - 4096), "does not fit the rest");
      assertEquals(2, slabs.created.size(), "no slab is added that cannot serve");
      assertEquals(MIB, pool.allocate(64, 8 * MIB).length());
      assertEquals(5 * MIB + 4096, pool.gauges().slabBytes());
      assertEquals(pool.capacityBytes(), pool.gauges().allocatedBytes());
      assertNull(pool.allocate(1, 1));
      Pools.assertBalanced(pool);
    }
  }

  @Test
  void aRestBelowOneMebibyteIsLeft() {
    try (SlabPool pool = Pools.of(slabs, 5 * MIB - 4096, 2 * MIB)) {
      while (pool.allocate(1, MIB) != null) {}
      assertEquals(4 * MIB, pool.gauges().slabBytes());
      assertEquals(4 * MIB - 2 * 4096, pool.capacityBytes());
    }
  }

  @Test
  void aBudgetBelowOneMebibyteIsOneSlab() {
    try (SlabPool pool = Pools.of(slabs, 100_000, 2 * MIB)) {
      assertEquals(24 * 4096, pool.allocate(1, 1).slab().length());
      assertEquals(23 * 4096, pool.maxExtentLength());
      assertEquals(23 * 4096, pool.capacityBytes());
    }
  }

  @Test
  void aBudgetOfNothingLendsNothing() {
    for (long budget : new long[] {0, 1, 4096, 8191}) {
      try (SlabPool pool = Pools.of(slabs, budget, MIB)) {
        assertNull(pool.allocate(1, 1));
        assertNull(pool.tryAllocate(1, 1));
        assertEquals(0, pool.capacityBytes());
        assertEquals(0, slabs.attempts());
      }
    }
  }

  @Test
  void aPreparedPoolLendsWithoutCreatingAnything() {
    try (SlabPool pool = Pools.of(slabs, 4 * MIB, MIB)) {
      pool.prepare();
      assertEquals(1, slabs.attempts());
      assertNotNull(pool.tryAllocate(1, 1));
      pool.prepare();
      assertEquals(1, slabs.attempts());
    }
  }

  @Test
  void preparingStaysWithinTheBudget() {
    try (SlabPool pool = Pools.of(slabs, 4096, MIB)) {
      pool.prepare();
      assertEquals(0, slabs.attempts());
    }
  }

  @Test
  void extentsAreAlignedAndBehindTheHeader() {
    try (SlabPool pool = Pools.of(slabs, 4 * MIB, MIB)) {
      Extent first = pool.allocate(1, 1);
      Extent second = pool.allocate(65, 65);
      assertEquals(4096, first.offset());
      assertEquals(64, first.length());
      assertEquals(4160, second.offset());
      assertEquals(128, second.length());
    }
  }

  @Test
  void anExtentLongerThanASlabIsRefusedWithoutCreatingOne() {
    try (SlabPool pool = Pools.of(slabs, 4 * MIB, MIB)) {
      assertNull(pool.allocate(MIB - 4095, MIB));
      assertNull(pool.allocate(Long.MAX_VALUE, Long.MAX_VALUE));
      assertEquals(0, slabs.attempts());
      assertNotNull(pool.allocate(1, Long.MAX_VALUE));
    }
  }

  @Test
  void whatIsTrimmedAndFreedIsOneRunAgain() {
    try (SlabPool pool = Pools.of(slabs, MIB, MIB)) {
      Extent extent = pool.allocate(MIB / 2, MIB / 2);
      pool.trim(extent, 65);
      assertEquals(128, extent.length());
      Extent next = pool.allocate(64, MIB);
      assertEquals(extent.end(), next.offset());
      pool.free(extent);
      pool.free(next);
      assertEquals(MIB - 4096, pool.allocate(MIB - 4096, MIB).length());
      assertEquals(1, pool.gauges().extents());
    }
  }

  @Test
  void anExtentGrowsIntoWhatIsUnusedBehindIt() {
    try (SlabPool pool = Pools.of(slabs, MIB, MIB)) {
      Extent extent = pool.allocate(64, 64);
      assertEquals(128, pool.extend(extent, 1, 100));
      assertEquals(192, extent.length());
      Extent behind = pool.allocate(64, 64);
      assertEquals(0, pool.extend(extent, 1, 1), "somebody else's");
      pool.free(behind);
      assertEquals(0, pool.extend(extent, MIB, MIB));
      assertEquals(MIB - 4096 - 192, pool.extend(extent, 1, Long.MAX_VALUE));
      Pools.assertBalanced(pool);
    }
  }

  @Test
  void givingBackTwiceIsRefused() {
    try (SlabPool pool = Pools.of(slabs, MIB, MIB);
        SlabPool other = Pools.of(new TestSlabs(), MIB, MIB)) {
      Extent extent = pool.allocate(64, 64);
      assertThrows(IllegalStateException.class, () -> other.free(extent));
      pool.free(extent);
      assertThrows(IllegalStateException.class, () -> pool.free(extent));
      assertThrows(IllegalStateException.class, () -> pool.retire(extent));
      assertThrows(IllegalStateException.class, () -> pool.trim(extent, 1));
      assertThrows(IllegalStateException.class, () -> pool.extend(extent, 1, 1));
      Pools.assertBalanced(pool);
    }
  }

  @Test
  void waitsForAQuarantineOnlyIfItEndsInTime() {
    try (SlabPool pool = Pools.of(slabs, MIB, MIB, List.of(), clock)) {
      Deadline soon = Deadline.after(Duration.ofSeconds(30));
      assertFalse(pool.awaitReclaimable(soon), "nothing is in quarantine");
      pool.retire(pool.allocate(MIB - 4096, MIB));
      assertFalse(pool.awaitReclaimable(Deadline.after(Pools.QUARANTINE.dividedBy(2))));
      clock.advance(Pools.QUARANTINE.minusMillis(1));
      assertTrue(pool.awaitReclaimable(soon));
      Thread.currentThread().interrupt();
      assertFalse(pool.awaitReclaimable(soon));
      assertTrue(Thread.interrupted());
      clock.advance(Duration.ofMillis(1));
      assertNotNull(pool.allocate(MIB - 4096, MIB));
    }
  }

  @Test
  void aRetiredExtentIsNotLentAgainBeforeItsTime() {
    try (SlabPool pool = Pools.of(slabs, MIB, MIB, List.of(), clock)) {
      Extent extent = pool.allocate(MIB - 4096, MIB);
      pool.retire(extent);
      assertEquals(MIB - 4096, pool.gauges().quarantinedBytes());
      assertNull(pool.allocate(1, 1));
      clock.advance(Pools.QUARANTINE.minusNanos(1));
      assertNull(pool.allocate(1, 1));
      clock.advance(Duration.ofNanos(1));
      assertEquals(MIB - 4096, pool.allocate(MIB - 4096, MIB).length());
      assertEquals(0, pool.gauges().quarantinedBytes());
      assertThrows(IllegalStateException.class, () -> pool.free(extent));
    }
  }

  @Test
  void availableIsWhatIsFreeAndWhatTheBudgetAdmits() {
    SlabPool pool = Pools.of(slabs, 2 * MIB, MIB, List.of(), clock);
    try (pool) {
      assertEquals(2 * MIB, pool.availableBytes());
      Extent extent = pool.allocate(4096, 4096);
      assertEquals(2 * MIB - Pools.HEADER - 4096, pool.availableBytes());
      pool.retire(extent);
      assertEquals(2 * MIB - Pools.HEADER - 4096, pool.availableBytes(), "in quarantine");
      clock.advance(Pools.QUARANTINE);
      assertEquals(2 * MIB - Pools.HEADER, pool.availableBytes());
      Pools.assertBalanced(pool);
    }
    assertEquals(0, pool.availableBytes());
  }

  @Test
  void expiredExtentsAreUsedBeforeASlabIsAdded() {
    try (SlabPool pool = Pools.of(slabs, 2 * MIB, MIB, List.of(), clock)) {
      List<Extent> extents = new ArrayList<>();
      for (int i = 0; i < 255; i++) {
        extents.add(pool.allocate(4096, 4096));
      }
      extents.forEach(pool::retire);
      clock.advance(Pools.QUARANTINE);
      assertNotNull(pool.allocate(MIB - 4096, MIB - 4096), "all 255 are joined");
      assertEquals(1, slabs.created.size());
    }
  }

  @Test
  void whatIsOverOfTheQuarantineIsForgottenThoughNobodyNeedsTheRoom() {
    try (SlabPool pool = Pools.of(slabs, MIB, MIB, List.of(), clock)) {
      for (int i = 0; i < 1_000; i++) {
        pool.retire(pool.allocate(64, 64));
        clock.advance(Pools.QUARANTINE);
      }
      assertEquals(64, pool.gauges().quarantinedBytes());
      assertEquals(1, pool.gauges().extents());
    }
  }

  @Test
  void aSlabThatCannotBeCreatedSpendsTheBudgetForAWhile() {
    FakeTransport transport = new FakeTransport("shm");
    try (SlabPool pool = Pools.of(slabs, 4 * MIB, MIB, List.of(transport), clock)) {
      slabs.isFull = true;
      assertNull(pool.allocate(1, 1));
      assertNull(pool.allocate(1, 1));
      assertEquals(1, slabs.attempts(), "not tried again at once");
      clock.advance(Duration.ofSeconds(1));
      assertNull(pool.allocate(1, 1));
      assertEquals(2, slabs.attempts());
      clock.advance(Duration.ofSeconds(1));
      assertNull(pool.allocate(1, 1));
      assertEquals(2, slabs.attempts(), "waits twice as long the second time");
      slabs.isFull = false;
      clock.advance(Duration.ofSeconds(1));
      assertNotNull(pool.allocate(1, 1));
      assertEquals(1, transport.counters.registrations.sum());
    }
  }

  @Test
  void everySlabIsRegisteredOnceWithEveryAvailableTransport() {
    FakeTransport rdma = new FakeTransport("rdma");
    FakeTransport shm = new FakeTransport("shm");
    FakeTransport absent = new FakeTransport("absent", false);
    try (SlabPool pool =
        Pools.of(slabs, 2 * MIB, MIB, List.<Transport>of(rdma, absent, shm), clock)) {
      Extent extent = pool.allocate(1, 1);
      for (int i = 0; i < 100; i++) {
        pool.free(pool.allocate(4096, 8192));
      }
      assertEquals(1, rdma.counters.registrations.sum());
      assertEquals(1, shm.counters.registrations.sum());
      assertEquals(Access.REMOTE_READ, rdma.lastAccess);
      assertEquals(7000 + extent.slab().id(), extent.slab().registered(rdma).remoteKey());
      assertNull(extent.slab().registered(absent));
      SlabDescriptor descriptor = pool.slabTable().slabs().get(0);
      assertEquals(extent.slab().id(), descriptor.slabId());
      assertEquals(MIB, descriptor.length());
      assertEquals(
          List.of("rdma", "shm"),
          descriptor.registrations().stream().map(r -> r.transport()).toList());
      assertFalse(descriptor.toString().contains("700"), "a key is not for the log");
    }
  }

  @Test
  void aRefusedRegistrationLeavesTheSlabToTheOtherTransports() {
    FakeTransport rdma = new FakeTransport("rdma");
    FakeTransport shm = new FakeTransport("shm");
    rdma.refuses = true;
    SlabPool pool = Pools.of(slabs, 2 * MIB, MIB, List.<Transport>of(rdma, shm), clock);
    try (pool) {
      Extent extent = pool.allocate(1, 1);
      assertNull(extent.slab().registered(rdma));
      assertNotNull(extent.slab().registered(shm));
      assertEquals(1, pool.slabTable().slabs().get(0).registrations().size());
      pool.free(extent);
    }
    assertEquals(0, shm.counters.registeredSlabs.sum());
    assertEquals(0, slabs.openCount());
  }

  @Test
  void listenersHearOfASlabBeforeItLendsAnything() {
    try (SlabPool pool = Pools.of(slabs, 3 * MIB, MIB)) {
      List<SlabTable> heard = new ArrayList<>();
      pool.addSlabListener(
          table -> {
            heard.add(table);
            assertEquals(table.version() - 1, pool.gauges().slabs());
          });
      pool.addSlabListener(
          table -> {
            throw new IllegalStateException("a listener of no consequence");
          });
      assertNotNull(pool.allocate(MIB - 4096, MIB));
      assertNotNull(pool.allocate(MIB - 4096, MIB));
      assertEquals(List.of(1L, 2L), heard.stream().map(SlabTable::version).toList());
      assertEquals(heard.get(1), pool.slabTable());
      assertEquals(heard.get(0).slabs(), heard.get(1).slabs().subList(0, 1));
    }
  }

  @Test
  void creatingASlabDoesNotHoldUpAllocationsFromOthers() throws Exception {
    ExecutorService threads = Executors.newCachedThreadPool();
    try (SlabPool pool = Pools.of(slabs, 3 * MIB, MIB)) {
      Extent first = pool.allocate(MIB / 2, MIB / 2);
      slabs.arrived = new CountDownLatch(1);
      slabs.gate = new CountDownLatch(1);
      Future<Extent> slow = threads.submit(() -> pool.allocate(MIB - 4096, MIB - 4096));
      slabs.arrived.await();
      // All of this while the slab is being made.
      assertNotNull(pool.allocate(4096, 4096));
      assertNotNull(pool.allocate(4096, MIB - 4096), "a fragment now is better than a slab later");
      pool.free(first);
      assertNotNull(pool.tryAllocate(4096, 4096));
      assertFalse(slow.isDone());
      slabs.gate.countDown();
      assertEquals(MIB - 4096, slow.get().length());
      assertEquals(2, slabs.created.size());
    } finally {
      threads.shutdownNow();
    }
  }

  @Test
  void whoWaitsForTheSameSlabDoesNotCreateAnother() throws Exception {
    ExecutorService threads = Executors.newCachedThreadPool();
    try (SlabPool pool = Pools.of(slabs, 8 * MIB, MIB)) {
      slabs.arrived = new CountDownLatch(1);
      slabs.gate = new CountDownLatch(1);
      List<Future<Extent>> waiting = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        waiting.add(threads.submit(() -> pool.allocate(4096, 4096)));
      }
      slabs.arrived.await();
      TimeUnit.MILLISECONDS.sleep(50);
      slabs.gate.countDown();
      for (Future<Extent> extent : waiting) {
        assertNotNull(extent.get());
      }
      assertEquals(1, slabs.created.size());
    } finally {
      threads.shutdownNow();
    }
  }

  @Test
  void closeDeregistersThenUnmapsAndIsIdempotent() {
    FakeTransport rdma = new FakeTransport("rdma");
    SlabPool pool = Pools.of(slabs, 2 * MIB, MIB, List.of(rdma), clock);
    pool.retire(pool.allocate(MIB - 4096, MIB));
    pool.free(pool.allocate(MIB - 4096, MIB));
    pool.close();
    pool.close();
    assertEquals(0, rdma.counters.registeredSlabs.sum());
    assertFalse(rdma.closedAfterMemory);
    assertEquals(2, slabs.created.size());
    assertEquals(0, slabs.openCount());
    assertEquals(NOTHING, pool.gauges());
    assertNull(pool.allocate(1, 1));
    assertNull(pool.tryAllocate(1, 1));
    assertEquals(2, slabs.attempts());
  }

  @Test
  void aSlabInUseOutlivesThePool() {
    FakeTransport rdma = new FakeTransport("rdma");
    SlabPool pool = Pools.of(slabs, 2 * MIB, MIB, List.of(rdma), clock);
    Extent freed = pool.allocate(MIB / 4, MIB / 4);
    Extent retired = pool.allocate(MIB / 4, MIB / 4);
    pool.free(pool.allocate(MIB - 4096, MIB - 4096));
    assertFalse(pool.awaitNothingLent(Deadline.after(Duration.ofMillis(10))));
    pool.close();
    assertEquals(1, slabs.openCount());
    assertEquals(0, rdma.counters.registeredSlabs.sum());
    freed.slab().buffer().putLong(freed.offset(), 42);
    assertEquals(0, pool.extend(freed, 64, 64));
    pool.trim(freed, 64);
    pool.free(freed);
    assertEquals(1, slabs.openCount());
    pool.retire(retired);
    assertEquals(0, slabs.openCount());
    assertEquals(NOTHING, pool.gauges());
    assertTrue(pool.awaitNothingLent(Deadline.after(Duration.ZERO)));
  }

  @Test
  void extentsNeverOverlapAndTheBooksBalanceWhateverTheOrder() {
    long seed = Pools.seed("SlabPoolTest");
    Random random = new Random(seed);
    List<Extent> lent = new ArrayList<>();
    ArrayDeque<Extent> lingering = new ArrayDeque<>();
    ArrayDeque<Long> dueNs = new ArrayDeque<>();
    try (SlabPool pool = Pools.of(slabs, 7 * MIB, 2 * MIB, List.of(), clock)) {
      for (int step = 0; step < 5_000; step++) {
        while (!dueNs.isEmpty() && dueNs.peek() - clock.getAsLong() <= 0) {
          dueNs.remove();
          lingering.remove();
        }
        int dice = random.nextInt(10);
        if (dice < 4) {
          long min = 1L + random.nextInt(100_000);
          Extent extent = pool.allocate(min, min + random.nextInt(100_000));
          if (extent != null) {
            assertTrue(extent.length() >= min, "seed=" + seed);
            assertApart(extent, lent, seed);
            // Those whose time has not come must not be lent, whatever the pressure.
            assertApart(extent, lingering, seed);
            lent.add(extent);
          }
        } else if (!lent.isEmpty()) {
          Extent extent = lent.get(random.nextInt(lent.size()));
          if (dice == 4) {
            pool.trim(extent, 1 + random.nextInt(extent.length()));
          } else if (dice == 5 && pool.extend(extent, 64, 50_000) > 0) {
            List<Extent> others = new ArrayList<>(lent);
            others.remove(extent);
            assertApart(extent, others, seed);
            assertApart(extent, lingering, seed);
          } else if (dice == 6) {
            lent.remove(extent);
            pool.free(extent);
          } else if (dice == 7) {
            lent.remove(extent);
            pool.retire(extent);
            lingering.add(extent);
            dueNs.add(clock.getAsLong() + Pools.QUARANTINE.toNanos());
          } else {
            clock.advance(Duration.ofMillis(random.nextInt(1000)));
          }
        }
        Pools.assertBalanced(pool);
        assertEquals(
            lent.stream().mapToLong(Extent::length).sum(),
            pool.gauges().allocatedBytes(),
            "seed=" + seed);
      }
      lent.forEach(pool::free);
      clock.advance(Pools.QUARANTINE);
      for (int i = 0; i < 3; i++) {
        assertEquals(2 * MIB - 4096, pool.allocate(2 * MIB - 4096, 2 * MIB).length());
      }
      assertEquals(MIB - 4096, pool.allocate(MIB - 4096, MIB).length());
      assertEquals(4, pool.gauges().extents(), "everything coalesced");
    }
  }

  private static void assertApart(Extent extent, Iterable<Extent> others, long seed) {
    Iterator<Extent> all = others.iterator();
    while (all.hasNext()) {
      Extent other = all.next();
      assertTrue(
          extent.slab() != other.slab()
              || extent.end() <= other.offset()
              || other.end() <= extent.offset(),
          () -> "seed=" + seed + ": " + extent + " overlaps " + other);
    }
  }
}
