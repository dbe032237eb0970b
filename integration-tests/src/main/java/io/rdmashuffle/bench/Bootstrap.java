package io.rdmashuffle.bench;

import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.ToDoubleFunction;

/**
 * Intervals of 95 % by resampling in two levels, as the measurements were made: applications differ
 * from one start to the next by more than runs within one start do, so starts are drawn first and
 * then the runs within each. Draws are the same in every call. Used by one thread.
 */
final class Bootstrap {
  private static final int RESAMPLES = 2_000;
  private static final double TAIL = 0.025;
  private static final long SEED = 20_240_601;

  /**
   * The median of ratios.
   *
   * @param byStart the ratios of each start
   */
  Interval ofMedian(List<double[]> byStart) {
    return ofGeometricMean(List.of(byStart));
  }

  /**
   * The geometric mean of the medians of several series.
   *
   * @param series for each the ratios of each start; all series are of the same starts
   */
  Interval ofGeometricMean(List<List<double[]>> series) {
    SplittableRandom random = new SplittableRandom(SEED);
    int starts = series.get(0).size();
    double[] resampled = new double[RESAMPLES];
    for (int i = 0; i < RESAMPLES; i++) {
      int[] drawn = random.ints(starts, 0, starts).toArray();
      resampled[i] = meanOfMedians(series, byStart -> median(byStart, drawn, random));
    }
    Arrays.sort(resampled);
    return new Interval(
        quantile(resampled, TAIL),
        meanOfMedians(series, Bootstrap::median),
        quantile(resampled, 1 - TAIL));
  }

  private static double meanOfMedians(
      List<List<double[]>> series, ToDoubleFunction<List<double[]>> median) {
    return Statistics.geometricMean(series.stream().mapToDouble(median).toArray());
  }

  private static double median(List<double[]> byStart) {
    return Statistics.median(byStart.stream().flatMapToDouble(Arrays::stream).toArray());
  }

  private static double median(List<double[]> byStart, int[] drawn, SplittableRandom random) {
    return Statistics.median(
        Arrays.stream(drawn)
            .mapToObj(byStart::get)
            .flatMapToDouble(
                runs -> random.ints(runs.length, 0, runs.length).mapToDouble(run -> runs[run]))
            .toArray());
  }

  private static double quantile(double[] sorted, double share) {
    return sorted[(int) Math.round(share * (sorted.length - 1))];
  }
}
