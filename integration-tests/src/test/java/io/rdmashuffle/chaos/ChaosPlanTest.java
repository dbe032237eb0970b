package io.rdmashuffle.chaos;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.conf.BlockStoreConfig;
import io.rdmashuffle.conf.RdmaShuffleConf;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ChaosPlanTest {
  private static final int SEEDS = 500;

  @Test
  void aSeedGivesTheSamePlanAgain() {
    for (long seed = 0; seed < SEEDS; seed++) {
      assertEquals(ChaosPlan.of(seed), ChaosPlan.of(seed));
    }
  }

  @Test
  void seedsGiveDifferentPlans() {
    Set<Object> plans = new HashSet<>();
    for (long seed = 0; seed < SEEDS; seed++) {
      ChaosPlan plan = ChaosPlan.of(seed);
      plans.add(plan.job());
    }
    assertEquals(SEEDS, plans.size());
  }

  /** A change of this is a change of what every seed that was ever noted down means. */
  @Test
  void aSeedMeansTheSameForEver() {
    ChaosPlan plan = ChaosPlan.of(42);
    assertEquals(
        "repartition of 12 x 681 rows into 14; [LOWER_FILE_SIZE at 1728 ms for 2201 ms, target 8,"
            + " FILL_DISK at 3897 ms for 2186 ms, target 5]",
        plan.job() + "; " + plan.onMachine());
  }

  @Test
  void everyKindOfInjectionAndOfFaultIsDrawn() {
    Set<InjectionKind> kinds = EnumSet.noneOf(InjectionKind.class);
    Set<ChaosJob.Operation> operations = EnumSet.noneOf(ChaosJob.Operation.class);
    double read = 0;
    double corrupt = 0;
    double connect = 0;
    double register = 0;
    double allocate = 0;
    for (long seed = 0; seed < SEEDS; seed++) {
      ChaosPlan plan = ChaosPlan.of(seed);
      plan.onMachine().forEach(injection -> kinds.add(injection.kind()));
      plan.onLink().forEach(injection -> kinds.add(injection.kind()));
      operations.add(plan.job().operation());
      read += plan.rates().read();
      corrupt += plan.rates().corrupt();
      connect += plan.rates().connect();
      register += plan.rates().register();
      allocate += plan.rates().allocate();
    }
    assertEquals(EnumSet.allOf(InjectionKind.class), kinds);
    assertEquals(EnumSet.allOf(ChaosJob.Operation.class), operations);
    assertTrue(
        Math.min(Math.min(read, corrupt), Math.min(connect, Math.min(register, allocate))) > 0);
  }

  @Test
  void damagedBytesAreLookedFor() {
    for (long seed = 0; seed < SEEDS; seed++) {
      ChaosPlan plan = ChaosPlan.of(seed);
      assertEquals(
          plan.rates().corrupt() > 0,
          Boolean.parseBoolean(plan.settings().get("spark.shuffle.rdma.verifyChecksums")));
    }
  }

  @Test
  void injectionsAreInTheOrderOfTheirTimes() {
    for (long seed = 0; seed < SEEDS; seed++) {
      long last = 0;
      for (Injection injection : ChaosPlan.of(seed).onMachine()) {
        assertTrue(injection.afterMs() >= last);
        last = injection.afterMs();
      }
    }
  }

  @Test
  void theSettingsAreValid() {
    for (long seed = 0; seed < SEEDS; seed++) {
      ChaosPlan plan = ChaosPlan.of(seed);
      assertDoesNotThrow(() -> RdmaShuffleConf.from(plan.settings()), plan::toString);
    }
  }

  /**
   * An executor that could never have its budget would refuse to start, which is another test's.
   */
  @Test
  void anExecutorAloneFindsRoomForItsSlabs() {
    for (long seed = 0; seed < SEEDS; seed++) {
      BlockStoreConfig store = RdmaShuffleConf.from(ChaosPlan.of(seed).settings()).blockStore();
      long wanted = store.memorySizeBytes().orElseThrow() + store.receiveSizeBytes();
      assertTrue(wanted <= (long) Arena.MEMORY_MB << 20, "seed " + seed + " wants " + wanted);
    }
  }
}
