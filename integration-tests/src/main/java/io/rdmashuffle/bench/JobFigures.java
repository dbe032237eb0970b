package io.rdmashuffle.bench;

import io.rdmashuffle.harness.JobReport;
import io.rdmashuffle.harness.Table;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** What a comparison of jobs found, as a table and as figures for programs. */
final class JobFigures {
  private final List<String> sides;
  private final Map<String, JobSeries> series;
  private final Bootstrap bootstrap = new Bootstrap();

  /**
   * @param sides labels; the last one is what the others are compared with
   * @param series by job, each with runs of all sides
   */
  JobFigures(List<String> sides, Map<String, JobSeries> series) {
    this.sides = List.copyOf(sides);
    this.series = series;
  }

  /** Medians of each side, ratios, and where the time goes. */
  Table table() {
    Table table =
        new Table(
            "job",
            "shuffle",
            "median",
            "plugin's speed-up",
            "task time",
            "task CPU",
            "process CPU",
            "GC",
            "write",
            "fetch wait",
            "written",
            "spilled");
    series.forEach(
        (job, runs) -> {
          for (int side = 0; side < sides.size(); side++) {
            table.add(row(side == 0 ? job : "", runs, side));
          }
        });
    return table;
  }

  private String[] row(String job, JobSeries runs, int side) {
    return new String[] {
      job,
      sides.get(side),
      seconds(runs.median(side, JobReport::seconds)),
      side == plugin() ? "" : speedup(runs, side).toString(),
      seconds(runs.median(side, r -> r.metrics().runMillis() / 1e3)),
      seconds(runs.median(side, r -> r.metrics().cpuNanos() / 1e9)),
      seconds(runs.median(side, JobReport::processCpuSeconds)),
      seconds(runs.median(side, r -> r.metrics().gcMillis() / 1e3)),
      seconds(runs.median(side, r -> r.metrics().writeNanos() / 1e9)),
      seconds(runs.median(side, r -> r.metrics().fetchWaitMillis() / 1e3)),
      Table.bytes((long) runs.median(side, r -> r.metrics().writtenBytes())),
      Table.bytes((long) runs.median(side, r -> r.metrics().spilledToDisk()))
    };
  }

  /** What the first run of a job after a start takes; of the first job also a cold application. */
  Table firstRuns() {
    Table table = new Table("first runs", "shuffle", "median", "plugin's speed-up", "process CPU");
    series.forEach(
        (job, runs) -> {
          for (int side = 0; side < sides.size(); side++) {
            table.add(
                side == 0 ? job : "",
                sides.get(side),
                seconds(Statistics.median(runs.firstRuns(side), JobReport::seconds)),
                side == plugin()
                    ? ""
                    : bootstrap.ofMedian(runs.firstSpeedups(side, plugin())).toString(),
                seconds(Statistics.median(runs.firstRuns(side), JobReport::processCpuSeconds)));
          }
        });
    return table;
  }

  /** What the tables' columns mean, and the means over all jobs. */
  List<String> legend() {
    List<String> lines = new ArrayList<>();
    lines.add(
        "Speed-up above 1: the plugin is faster. Median of the ratios within a round, with the 95 %"
            + " interval of a bootstrap over starts and rounds.");
    lines.add(
        "Task time, task CPU and so on are sums over the tasks of a run; process CPU is of the"
            + " executors with their compiler and collector.");
    for (int side = 0; side < plugin(); side++) {
      lines.add("Geometric mean over " + sides.get(side) + ": " + mean(side));
    }
    return lines;
  }

  private Interval speedup(JobSeries runs, int side) {
    return bootstrap.ofMedian(runs.speedups(side, plugin()));
  }

  private Interval mean(int side) {
    return bootstrap.ofGeometricMean(
        series.values().stream().map(runs -> runs.speedups(side, plugin())).toList());
  }

  private int plugin() {
    return sides.size() - 1;
  }

  private static String seconds(double value) {
    return String.format(Locale.ROOT, "%.2f s", value);
  }

  /** All of it and every run. */
  Map<String, Object> forPrograms() {
    List<Map<String, Object>> jobs = new ArrayList<>();
    series.forEach(
        (job, runs) -> {
          Map<String, Object> row = new LinkedHashMap<>();
          row.put("job", job);
          for (int side = 0; side < plugin(); side++) {
            row.put("speedup over " + sides.get(side), speedup(runs, side));
            row.put("speedups over " + sides.get(side), runs.speedups(side, plugin()));
          }
          for (int side = 0; side < sides.size(); side++) {
            row.put(sides.get(side), figures(runs.runs(side)));
            row.put(sides.get(side) + ", first runs", figures(runs.firstRuns(side)));
          }
          jobs.add(row);
        });
    Map<String, Object> figures = new LinkedHashMap<>();
    figures.put("jobs", jobs);
    for (int side = 0; side < plugin(); side++) {
      figures.put("geometric mean over " + sides.get(side), mean(side));
    }
    return figures;
  }

  private static List<Map<String, Object>> figures(List<JobReport> runs) {
    return runs.stream()
        .map(
            run ->
                Map.<String, Object>of(
                    "seconds", run.seconds(),
                    "processCpuSeconds", run.processCpuSeconds(),
                    "spark", run.metrics(),
                    "plugin", run.totals()))
        .toList();
  }
}
