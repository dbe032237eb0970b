package io.rdmashuffle.bench;

import io.rdmashuffle.harness.JobReport;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** All measured runs of one job: by start of the applications, by round, by side. */
final class JobSeries {
  private final List<List<List<JobReport>>> starts = new ArrayList<>();

  /** What follows was measured with applications started afresh. */
  void startAfresh() {
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

  /** All runs of a side. */
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
