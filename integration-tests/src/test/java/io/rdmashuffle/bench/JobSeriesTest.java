package io.rdmashuffle.bench;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.rdmashuffle.harness.JobReport;
import io.rdmashuffle.harness.PluginTotals;
import io.rdmashuffle.harness.ShuffleMetrics;
import io.rdmashuffle.jobs.ResultDigest;
import java.util.List;
import org.junit.jupiter.api.Test;

class JobSeriesTest {
  private final JobSeries series = new JobSeries();

  @Test
  void ratiosAreTakenWithinARoundAndKeptByStart() {
    series.startAfresh(List.of(run(50), run(10)));
    series.add(List.of(run(4), run(2)));
    series.add(List.of(run(3), run(6)));
    series.startAfresh(List.of(run(50), run(10)));
    series.add(List.of(run(9), run(3)));
    List<double[]> speedups = series.speedups(0, 1);
    assertEquals(2, speedups.size());
    assertArrayEquals(new double[] {2, 0.5}, speedups.get(0));
    assertArrayEquals(new double[] {3}, speedups.get(1));
  }

  @Test
  void aMedianIsOverTheRunsOfOneSideFromAllStarts() {
    series.startAfresh(List.of(run(50), run(10)));
    series.add(List.of(run(4), run(100)));
    series.startAfresh(List.of(run(50), run(10)));
    series.add(List.of(run(1), run(200)));
    series.add(List.of(run(3), run(300)));
    assertEquals(3, series.median(0, JobReport::seconds));
    assertEquals(200, series.median(1, JobReport::seconds));
  }

  @Test
  void firstRunsAreKeptApart() {
    series.startAfresh(List.of(run(6), run(3)));
    series.add(List.of(run(1), run(1)));
    assertArrayEquals(new double[] {2}, series.firstSpeedups(0, 1).get(0));
    assertEquals(1, series.runs(0).size());
    assertEquals(3, series.firstRuns(1).get(0).seconds());
  }

  private static JobReport run(double seconds) {
    return new JobReport(
        "job", seconds, 0, ResultDigest.ordered(List.of()), ShuffleMetrics.ZERO, PluginTotals.ZERO);
  }
}
