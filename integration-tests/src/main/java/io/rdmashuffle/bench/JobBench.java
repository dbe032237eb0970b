package io.rdmashuffle.bench;

import io.rdmashuffle.harness.ClusterSpec;
import io.rdmashuffle.harness.Console;
import io.rdmashuffle.harness.HarnessPaths;
import io.rdmashuffle.harness.JobReport;
import io.rdmashuffle.harness.JsonFile;
import io.rdmashuffle.harness.Options;
import io.rdmashuffle.harness.RemoteApp;
import io.rdmashuffle.harness.ShuffleMode;
import io.rdmashuffle.harness.Table;
import io.rdmashuffle.jobs.Job;
import io.rdmashuffle.jobs.JobInput;
import io.rdmashuffle.jobs.Jobs;
import io.rdmashuffle.jobs.TextCorpus;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.spark.network.util.JavaUtils;

/**
 * Whole jobs, plugin against sort shuffle: both applications alive, A B then B A, one warm-up,
 * medians of the ratios within pairs.
 */
public final class JobBench {
  private static final long TEXT_LIMIT = 24L << 20;

  private final Console console = new Console(System.out);
  private final Options options;
  private final Map<String, JobSeries> series = new LinkedHashMap<>();
  private boolean allEqual = true;

  private JobBench(Options options) {
    this.options = options;
  }

  /** See {@code bin/bench --help}. */
  public static void main(String[] args) throws IOException {
    int status;
    try {
      status =
          new JobBench(
                  Options.parse(
                      args,
                      Set.of(
                          "--conf",
                          "--json",
                          "--rounds",
                          "--starts",
                          "--jobs",
                          "--load",
                          "--size",
                          "--scale",
                          "--text"),
                      Set.of("--tmpfs")))
              .run();
    } catch (IllegalArgumentException e) {
      System.err.println("bench job: " + e.getMessage());
      status = 2;
    } catch (IllegalStateException e) {
      System.err.println("bench job: " + e.getMessage());
      status = 1;
    }
    System.exit(status);
  }

  private int run() throws IOException {
    List<Job> jobs =
        options
            .last("--jobs")
            .map(names -> Arrays.stream(names.split(",", -1)).map(Jobs::byName).toList())
            .orElse(Jobs.bench());
    JobInput input = input();
    jobs.forEach(job -> console.say("  %-12s%s".formatted(job.name(), job.describe(input))));
    int starts = (int) options.number("--starts", 1);
    for (int start = 1; start <= starts; start++) {
      console.say("Applications started for the %d. of %d times".formatted(start, starts));
      runPair(jobs, input, start);
    }
    console.say("");
    console.say(table().toString());
    console.say(
        "Speed-up above 1: the plugin is faster. Geometric mean: " + Table.ratio(geometricMean()));
    if (options.last("--json").isPresent()) {
      JsonFile.write(Path.of(options.last("--json").get()), json());
    }
    return allEqual ? 0 : 1;
  }

  private void runPair(List<Job> jobs, JobInput input, int start) throws IOException {
    int rounds = (int) options.number("--rounds", 4);
    try (RemoteApp base = RemoteApp.start(baseSpec());
        RemoteApp plugin = RemoteApp.start(pluginSpec())) {
      for (Job job : jobs) {
        console.begin(job.name() + ", warm-up");
        check(base.run(job.name(), input, t -> {}), plugin.run(job.name(), input, t -> {}));
        console.end("done");
        for (int round = 0; round < rounds; round++) {
          console.begin("%s, pair %d of %d".formatted(job.name(), round + 1, rounds));
          pair(job.name(), input, base, plugin, (round + start) % 2 == 0);
        }
      }
      plugin.stop();
      base.stop();
    } finally {
      deleteTmpfsDir();
    }
  }

  private void pair(
      String job, JobInput input, RemoteApp base, RemoteApp plugin, boolean pluginFirst) {
    JobReport pluginRun = pluginFirst ? plugin.run(job, input, t -> {}) : null;
    JobReport baseRun = base.run(job, input, t -> {});
    if (pluginRun == null) {
      pluginRun = plugin.run(job, input, t -> {});
    }
    check(baseRun, pluginRun);
    series.computeIfAbsent(job, name -> new JobSeries()).add(baseRun, pluginRun);
    console.end(
        "sort shuffle %s, plugin %s"
            .formatted(Table.seconds(baseRun.seconds()), Table.seconds(pluginRun.seconds())));
  }

  private void check(JobReport base, JobReport plugin) {
    plugin
        .result()
        .differenceFrom(base.result())
        .ifPresent(
            what -> {
              allEqual = false;
              System.err.println("bench job: " + plugin.job() + ": the result differs: " + what);
            });
  }

  private ClusterSpec baseSpec() {
    ClusterSpec spec = common("bench-sort", ShuffleMode.SORT);
    return options.has("--tmpfs") ? spec.with("spark.local.dir", tmpfsDir().toString()) : spec;
  }

  private ClusterSpec pluginSpec() {
    return common("bench-plugin", ShuffleMode.PLUGIN).with(options.settings("--conf"));
  }

  private static ClusterSpec common(String name, ShuffleMode mode) {
    return ClusterSpec.forMeasuring(name, mode)
        .with("spark.serializer", "org.apache.spark.serializer.KryoSerializer");
  }

  private static Path tmpfsDir() {
    return Path.of("/dev/shm/bench-sort-local");
  }

  private static void deleteTmpfsDir() throws IOException {
    if (!Files.exists(tmpfsDir())) {
      return;
    }
    try (Stream<Path> files = Files.walk(tmpfsDir())) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    }
  }

  private JobInput input() {
    String size = options.last("--size").orElse("256m");
    List<String> texts =
        options
            .last("--text")
            .map(dir -> TextCorpus.in(Path.of(dir)))
            .orElseGet(() -> TextCorpus.onThisMachine(TEXT_LIMIT));
    try {
      return new JobInput(
          HarnessPaths.workDir().resolve("data").toString(),
          JavaUtils.byteStringAsBytes(size),
          texts,
          options.number("--scale", 0.2),
          options.number("--load", 1));
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          "--size: expected a size such as 256m or 2g, found '" + size + "'", e);
    }
  }

  private double geometricMean() {
    return Math.exp(
        series.values().stream().mapToDouble(s -> Math.log(s.medianSpeedup())).average().orElse(0));
  }

  private Table table() {
    Table table =
        new Table(
            "job",
            "shuffle",
            "median",
            "speed-up",
            "lowest..highest",
            "CPU",
            "write",
            "fetch wait",
            "written",
            "spilled");
    series.forEach(
        (job, runs) -> {
          double[] ratios = runs.speedups();
          String interval =
              "%s..%s".formatted(Table.ratio(ratios[0]), Table.ratio(ratios[ratios.length - 1]));
          String sort = options.has("--tmpfs") ? "sort on tmpfs" : "sort";
          table.add(row(job, sort, runs.base(), "", ""));
          table.add(row("", "plugin", runs.plugin(), Table.ratio(runs.medianSpeedup()), interval));
        });
    return table;
  }

  private static String[] row(
      String job, String shuffle, List<JobReport> runs, String speedup, String interval) {
    return new String[] {
      job,
      shuffle,
      seconds(JobSeries.median(runs, JobReport::seconds)),
      speedup,
      interval,
      seconds(JobSeries.median(runs, r -> r.metrics().cpuNanos() / 1e9)),
      seconds(JobSeries.median(runs, r -> r.metrics().writeNanos() / 1e9)),
      seconds(JobSeries.median(runs, r -> r.metrics().fetchWaitMillis() / 1e3)),
      Table.bytes((long) JobSeries.median(runs, r -> r.metrics().writtenBytes())),
      Table.bytes((long) JobSeries.median(runs, r -> r.metrics().spilledToDisk()))
    };
  }

  private static String seconds(double value) {
    return String.format(Locale.ROOT, "%.2f s", value);
  }

  private Map<String, Object> json() {
    List<Map<String, Object>> jobs = new ArrayList<>();
    series.forEach(
        (job, runs) -> {
          Map<String, Object> row = new LinkedHashMap<>();
          row.put("job", job);
          row.put("medianSpeedup", runs.medianSpeedup());
          row.put("speedups", runs.speedups());
          row.put("sort", sides(runs.base()));
          row.put("plugin", sides(runs.plugin()));
          jobs.add(row);
        });
    return Map.of("jobs", jobs, "geometricMean", geometricMean(), "tmpfs", options.has("--tmpfs"));
  }

  private static List<Map<String, Object>> sides(List<JobReport> runs) {
    return runs.stream()
        .map(
            run ->
                Map.<String, Object>of(
                    "seconds", run.seconds(), "spark", run.metrics(), "plugin", run.totals()))
        .toList();
  }
}
