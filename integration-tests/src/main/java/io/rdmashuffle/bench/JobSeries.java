package io.rdmashuffle.bench;

import io.rdmashuffle.harness.JobReport;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** Runs of one job, pair by pair. */
final class JobSeries {
  private final List<JobReport> base = new ArrayList<>();
  private final List<JobReport> plugin = new ArrayList<>();

  /** Adds two runs made one after the other. */
  void add(JobReport baseRun, JobReport pluginRun) {
    base.add(baseRun);
    plugin.add(pluginRun);
  }

  List<JobReport> base() {
    return base;
  }

  List<JobReport> plugin() {
    return plugin;
  }

  /** Of each pair, how much faster the plugin was; sorted. */
  double[] speedups() {
    double[] ratios = new double[base.size()];
    for (int i = 0; i < ratios.length; i++) {
      ratios[i] = base.get(i).seconds() / plugin.get(i).seconds();
    }
    Arrays.sort(ratios);
    return ratios;
  }

  double medianSpeedup() {
    return median(speedups());
  }

  static double median(List<JobReport> runs, ToDoubleFunction<JobReport> value) {
    double[] values = runs.stream().mapToDouble(value).toArray();
    Arrays.sort(values);
    return median(values);
  }

  private static double median(double[] sorted) {
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }
}
