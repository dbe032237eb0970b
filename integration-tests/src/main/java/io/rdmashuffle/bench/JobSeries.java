package io.rdmashuffle.bench;

import io.rdmashuffle.harness.JobReport;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** All measured runs of one job: by start of the applications, by round, by side. */
final class JobSeries {
  private final List<List<JobReport>> firsts = new ArrayList<>();
  private final List<List<List<JobReport>>> starts = new ArrayList<>();

  /**
   * What follows was measured with applications started afresh.
   *
   * @param bySide the first run of the job in each of them, which is kept apart
   */
  void startAfresh(List<JobReport> bySide) {
    firsts.add(List.copyOf(bySide));
    starts.add(new ArrayList<>());
  }

  /**
   * Adds runs made one after the other.
   *
   * @param bySide one of each side, in the order of the sides
   */
  void add(List<JobReport> bySide) {
    starts.get(starts.size() - 1).add(List.copyOf(bySide));
  }

  /** The first run of a side after each start. */
  List<JobReport> firstRuns(int side) {
    return firsts.stream().map(runs -> runs.get(side)).toList();
  }

  /** Of the first runs, how many times longer {@code base} took than {@code other}, by start. */
  List<double[]> firstSpeedups(int base, int other) {
    return firsts.stream()
        .map(runs -> new double[] {runs.get(base).seconds() / runs.get(other).seconds()})
        .toList();
  }

  /** All runs of a side but the first ones. */
  List<JobReport> runs(int side) {
    return starts.stream().flatMap(List::stream).map(round -> round.get(side)).toList();
  }

  /** Of each round, how many times longer {@code base} took than {@code other}, by start. */
  List<double[]> speedups(int base, int other) {
    return starts.stream()
        .map(
            rounds ->
                rounds.stream()
                    .mapToDouble(r -> r.get(base).seconds() / r.get(other).seconds())
                    .toArray())
        .toList();
  }

  /** The median over all runs of a side. */
  double median(int side, ToDoubleFunction<JobReport> value) {
    return Statistics.median(runs(side), value);
  }
}
