package io.rdmashuffle.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class FreeExtentsTest {
  private static final int UNIT = 64;
  private static final int SLABS = 3;
  private static final int UNITS = 1000;

  private final FreeExtents free = new FreeExtents();

  @Test
  void theSmallestRunThatFitsIsTaken() {
    free.add(FreeExtents.address(1, 4096), 640);
    free.add(FreeExtents.address(1, 8192), 256);
    free.add(FreeExtents.address(1, 16384), 512);
    assertEquals(new FreeExtents.Run(FreeExtents.address(1, 16384), 320), free.take(64, 320));
    assertEquals(256 + 640 + 192, free.freeBytes());
  }

  @Test
  void theLargestRunServesWhenNoneIsAsLongAsPreferred() {
    free.add(FreeExtents.address(1, 4096), 640);
    free.add(FreeExtents.address(1, 8192), 256);
    assertNull(free.take(704, 1024));
    assertEquals(new FreeExtents.Run(FreeExtents.address(1, 4096), 640), free.take(64, 1024));
  }

  @Test
  void neighboursJoinOnBothSides() {
    free.add(FreeExtents.address(1, 4096), 64);
    free.add(FreeExtents.address(1, 4224), 64);
    assertEquals(2, free.runCount());
    free.add(FreeExtents.address(1, 4160), 64);
    assertEquals(1, free.runCount());
    assertEquals(new FreeExtents.Run(FreeExtents.address(1, 4096), 192), free.take(192, 192));
    assertEquals(0, free.freeBytes());
  }

  @Test
  void theEndOfOneSlabDoesNotJoinTheStartOfTheNext() {
    int length = Integer.MAX_VALUE / 4096 * 4096;
    free.add(FreeExtents.address(1, 4096), length - 4096);
    free.add(FreeExtents.address(2, 4096), length - 4096);
    free.add(FreeExtents.address(-1, 4096), 64);
    free.add(FreeExtents.address(0, 4096), 64);
    assertEquals(4, free.runCount());
  }

  @Test
  void whatLiesDirectlyBehindCanBeTaken() {
    free.add(FreeExtents.address(1, 4096), 256);
    assertEquals(0, free.takeAt(FreeExtents.address(1, 4160), 64, 64));
    assertEquals(0, free.takeAt(FreeExtents.address(1, 4096), 320, 640));
    assertEquals(64, free.takeAt(FreeExtents.address(1, 4096), 64, 64));
    assertEquals(192, free.takeAt(FreeExtents.address(1, 4160), 64, 1024));
    assertEquals(0, free.runCount());
  }

  @Test
  void runsNeverOverlapAndAlwaysCoalesceWhateverTheOrder() {
    long seed = Pools.seed("FreeExtentsTest");
    Random random = new Random(seed);
    BitSet[] isFree = new BitSet[SLABS];
    for (int slab = 0; slab < SLABS; slab++) {
      isFree[slab] = new BitSet();
      isFree[slab].set(0, UNITS);
      free.add(FreeExtents.address(slab, 4096), UNITS * UNIT);
    }
    List<FreeExtents.Run> taken = new ArrayList<>();
    for (int step = 0; step < 20_000; step++) {
      int min = (1 + random.nextInt(40)) * UNIT;
      int preferred = min + random.nextInt(40) * UNIT;
      if (random.nextInt(100) < (step / 2000 % 2 == 0 ? 60 : 40)) {
        FreeExtents.Run run = free.take(min, preferred);
        int longest = longestRun(isFree);
        if (run == null) {
          assertTrue(longest < min, "seed=" + seed + " step=" + step);
        } else {
          assertEquals(Math.min(longest, preferred), run.length(), "seed=" + seed);
          mark(isFree, run, true, seed);
          taken.add(run);
        }
      } else if (!taken.isEmpty()) {
        FreeExtents.Run run = taken.remove(random.nextInt(taken.size()));
        long end = run.address() + run.length();
        int gained = random.nextBoolean() ? free.takeAt(end, min, preferred) : 0;
        if (gained > 0) {
          mark(isFree, new FreeExtents.Run(end, gained), true, seed);
          run = new FreeExtents.Run(run.address(), run.length() + gained);
        }
        mark(isFree, run, false, seed);
        free.add(run.address(), run.length());
      }
      assertEquals(count(isFree) * UNIT, free.freeBytes(), "seed=" + seed);
      assertEquals(runs(isFree), free.runCount(), "seed=" + seed + " step=" + step);
    }
    taken.forEach(run -> free.add(run.address(), run.length()));
    assertEquals(SLABS, free.runCount(), "everything given back is one run per slab");
  }

  private static void mark(BitSet[] isFree, FreeExtents.Run run, boolean isTaken, long seed) {
    BitSet units = isFree[FreeExtents.slabId(run.address())];
    int from = (FreeExtents.offset(run.address()) - 4096) / UNIT;
    int to = from + run.length() / UNIT;
    assertTrue(from >= 0 && to <= UNITS, "seed=" + seed);
    if (isTaken) {
      assertEquals(to, Math.min(to, units.nextClearBit(from)), "overlap, seed=" + seed);
    } else {
      assertFalse(units.get(from, to).cardinality() > 0, "seed=" + seed);
    }
    units.set(from, to, !isTaken);
  }

  private static long count(BitSet[] isFree) {
    long count = 0;
    for (BitSet units : isFree) {
      count += units.cardinality();
    }
    return count;
  }

  private static int runs(BitSet[] isFree) {
    int runs = 0;
    for (BitSet units : isFree) {
      for (int at = units.nextSetBit(0); at >= 0; at = units.nextSetBit(units.nextClearBit(at))) {
        runs++;
      }
    }
    return runs;
  }

  private static int longestRun(BitSet[] isFree) {
    int longest = 0;
    for (BitSet units : isFree) {
      for (int at = units.nextSetBit(0); at >= 0; at = units.nextSetBit(units.nextClearBit(at))) {
        longest = Math.max(longest, units.nextClearBit(at) - at);
      }
    }
    return longest * UNIT;
  }
}
