package io.rdmashuffle.store;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.rdmashuffle.transport.Access;
import io.rdmashuffle.transport.SlabMemory;
import io.rdmashuffle.transport.Transport;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.function.LongSupplier;

/** Pools and bytes for tests. */
final class Pools {
  static final int HEADER = SlabMemory.HEADER_LENGTH;
  static final Duration QUARANTINE = Duration.ofSeconds(10);

  private Pools() {}

  static SlabPool of(TestSlabs slabs, long budgetBytes, int slabLength) {
    return of(slabs, budgetBytes, slabLength, List.of(), new FakeClock());
  }

  static SlabPool of(
      TestSlabs slabs,
      long budgetBytes,
      int slabLength,
      List<Transport> transports,
      LongSupplier clock) {
    return new SlabPool(
        "test",
        slabs,
        transports,
        Access.REMOTE_READ,
        budgetBytes,
        slabLength,
        QUARANTINE.toNanos(),
        clock);
  }

  /** Whatever happened before, the books must balance. */
  static void assertBalanced(SlabPool pool) {
    SlabPoolGauges gauges = pool.gauges();
    assertEquals(
        gauges.slabBytes() - (long) gauges.slabs() * HEADER,
        gauges.allocatedBytes() + gauges.quarantinedBytes() + gauges.freeBytes(),
        gauges.toString());
  }

  static byte[] randomBytes(Random random, int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }

  /** A seed to print, so that a failure can be had again. */
  static long seed(String test) {
    long seed = Long.getLong("test.seed", System.nanoTime());
    System.out.println(test + " seed=" + seed);
    return seed;
  }
}
