package io.rdmashuffle.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class BootstrapTest {
  private final Bootstrap bootstrap = new Bootstrap();

  @Test
  void equalRatiosLeaveNoDoubt() {
    double[] runs = {1.5, 1.5, 1.5};
    assertEquals(new Interval(1.5, 1.5, 1.5), bootstrap.ofMedian(List.of(runs, runs)));
  }

  @Test
  void theMiddleIsTheMedianOfAllRuns() {
    Interval interval =
        bootstrap.ofMedian(List.of(new double[] {1, 2, 3}, new double[] {4, 5}, new double[] {9}));
    assertEquals(3.5, interval.middle(), 1e-12);
    assertTrue(interval.low() > 0.99 && interval.high() < 9.01, interval.toString());
  }

  @Test
  void theSameMeasurementsGiveTheSameInterval() {
    List<double[]> byStart = List.of(new double[] {1, 1.4, 1.2}, new double[] {0.9, 1.3});
    assertEquals(bootstrap.ofMedian(byStart), new Bootstrap().ofMedian(byStart));
  }

  @Test
  void startsThatDifferWidenTheIntervalMoreThanRunsDo() {
    double[] fast = {2, 2, 2, 2};
    double[] slow = {1, 1, 1, 1};
    double[] mixed = {1, 2, 1, 2};
    double betweenStarts = width(bootstrap.ofMedian(List.of(fast, slow, fast)));
    double withinStarts = width(bootstrap.ofMedian(List.of(mixed, mixed, mixed)));
    assertEquals(1, betweenStarts, 1e-9);
    assertTrue(withinStarts <= betweenStarts, withinStarts + " > " + betweenStarts);
  }

  @Test
  void nineteenOfTwentyIntervalsHoldTheTruth() {
    SplittableRandom random = new SplittableRandom(7);
    int trials = 100;
    int hits = 0;
    for (int trial = 0; trial < trials; trial++) {
      Interval interval = bootstrap.ofMedian(List.of(noisy(random), noisy(random), noisy(random)));
      hits += interval.low() <= 1.3 && 1.3 <= interval.high() ? 1 : 0;
    }
    // Percentile intervals of few values are known to be somewhat too narrow.
    assertTrue(hits >= 85, hits + " of " + trials);
  }

  private static double[] noisy(SplittableRandom random) {
    return IntStream.range(0, 8).mapToDouble(i -> 1.3 + random.nextDouble(-0.2, 0.2)).toArray();
  }

  @Test
  void theMeanOfSeveralSeriesIsThatOfTheirMedians() {
    List<double[]> twice = List.of(new double[] {2, 2}, new double[] {2, 2});
    List<double[]> half = List.of(new double[] {0.5, 0.5}, new double[] {0.5, 0.5});
    Interval mean = bootstrap.ofGeometricMean(List.of(twice, half));
    assertEquals(1, mean.low(), 1e-12);
    assertEquals(1, mean.middle(), 1e-12);
    assertEquals(1, mean.high(), 1e-12);
  }

  private static double width(Interval interval) {
    return interval.high() - interval.low();
  }
}
