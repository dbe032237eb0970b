package io.rdmashuffle.chaos;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.it.ExpectedWarnings;
import java.util.List;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Rounds of chaos; a seed that fails can be run again with {@code bin/chaos --seed}. */
@Tag("slow")
@ExpectedWarnings(" WARN ") // what goes wrong here is wanted; errors fail the round
class ChaosTest {
  private static final int ROUNDS = Boolean.getBoolean("test.nightly") ? 100 : 10;
  private static final long FIRST_SEED = 1;

  private static ChaosRun run;

  @BeforeAll
  static void start() {
    run = ChaosRun.open();
  }

  @AfterAll
  static void stop() {
    run.close();
  }

  static Stream<Long> seeds() {
    return LongStream.range(FIRST_SEED, FIRST_SEED + ROUNDS).boxed();
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void resultsAreTheSortShufflesAndNothingIsLeft(long seed) {
    RoundReport report = run.round(seed);
    System.out.printf(
        "seed %d: %s%n  %s%n  %d jobs in %.1f s, %s, %s%n",
        seed,
        report.plan(),
        report.events(),
        report.jobs(),
        report.seconds(),
        report.totals().bytes(),
        report.totals().fallbacks());
    assertEquals(List.of(), report.faults(), () -> "again: bin/chaos --rounds 1 --seed " + seed);
    assertTrue(report.jobs() > 0, "no job ran");
  }
}
