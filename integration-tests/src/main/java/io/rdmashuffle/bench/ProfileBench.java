package io.rdmashuffle.bench;

import io.rdmashuffle.harness.Console;
import io.rdmashuffle.harness.HarnessPaths;
import io.rdmashuffle.harness.JobRunner;
import io.rdmashuffle.harness.LocalCluster;
import io.rdmashuffle.harness.Options;
import io.rdmashuffle.harness.Table;
import io.rdmashuffle.jobs.Job;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;

/** What executors spend their CPU on in whole jobs, with the sort shuffle and with the plugin. */
public final class ProfileBench {
  private static final int TOP_FRAMES = 12;

  private final Console console;
  private final JobPlan plan;
  private final JobSides sides;
  private final double seconds;
  private final TimeLimit limit;
  private final Map<String, List<Profile>> profiles = new LinkedHashMap<>();

  private ProfileBench(Options options, Console console) {
    this.console = console;
    plan = JobPlan.from(options);
    sides = new JobSides(options);
    seconds = options.number("--seconds", options.has("--quick") ? 5 : 20);
    limit = TimeLimit.of(plan.minutes(), System::nanoTime);
  }

  /** Of one job with one shuffle. */
  private record Profile(String shuffle, int runs, CpuProfile cpu) {
    double secondsPerRun(Work work) {
      return cpu.seconds(work) / runs;
    }

    double secondsPerRun() {
      return cpu.seconds() / runs;
    }
  }

  /** See {@code bin/bench --help}. */
  public static void main(String[] args) throws IOException {
    Set<String> withValue = new HashSet<>(JobPlan.OPTIONS);
    withValue.add("--seconds");
    BenchMain.run(
        "profile",
        args,
        withValue,
        Set.of(),
        (options, console) -> new ProfileBench(options, console).run());
  }

  private BenchMain.Outcome run() throws IOException {
    List<Side> compared = List.of(sides.sort(), sides.plugin());
    int part = 0;
    for (Side side : compared) {
      console.begin("starting the application with " + side.label());
      try (LocalCluster cluster = LocalCluster.start(side.spec())) {
        console.end("up");
        for (Job job : plan.jobs()) {
          part++;
          profiles
              .computeIfAbsent(job.name(), name -> new ArrayList<>())
              .add(profile(side, cluster, job, part, compared.size() * plan.jobs().size()));
        }
      }
    }
    profiles.forEach(
        (job, both) -> {
          console.say("");
          console.say(table(job, both).toString());
          both.forEach(profile -> console.say(topFrames(profile).toString()));
        });
    console.say(
        "CPU of the executors per run, by the innermost frame of a sample that belongs to a part"
            + " of a shuffle.");
    return new BenchMain.Outcome(forPrograms(), null);
  }

  private Profile profile(Side side, LocalCluster cluster, Job job, int part, int parts)
      throws IOException {
    JobRunner runner = new JobRunner(cluster);
    console.begin(job.name() + " with " + side.label());
    BooleanSupplier isLate = () -> limit.isPast(part, parts);
    repeat(runner, job, isLate);
    ExecutorTasks.runOnAll(cluster, ExecutorRecording::start);
    int runs = repeat(runner, job, isLate);
    Path dir = Files.createDirectories(HarnessPaths.workDir().resolve("profiles"));
    String dirName = dir.toString();
    CpuProfile cpu = new CpuProfile();
    for (ExecutorRecording.Recorded recorded :
        ExecutorTasks.runOnAll(cluster, () -> ExecutorRecording.stop(dirName))) {
      cpu.add(
          FlightRecording.samples(Path.of(recorded.file())),
          recorded.cpuSeconds(),
          recorded.processSeconds());
    }
    console.end("%d runs".formatted(runs));
    return new Profile(side.label(), runs, cpu);
  }

  /** Runs a job as long as a recording lasts, or once when it is late; gives the number of runs. */
  private int repeat(JobRunner runner, Job job, BooleanSupplier isLate) {
    long beganNs = System.nanoTime();
    int runs = 0;
    do {
      runner.run(job, plan.input());
      runs++;
    } while (System.nanoTime() - beganNs < seconds * 1e9 && !isLate.getAsBoolean());
    return runs;
  }

  private static Table table(String job, List<Profile> both) {
    List<String> headings = new ArrayList<>(List.of(job));
    for (Profile profile : both) {
      headings.add(profile.shuffle);
      headings.add("share");
    }
    Table table = new Table(headings.toArray(String[]::new));
    for (Work work : Work.values()) {
      List<String> row = new ArrayList<>(List.of(work.label()));
      for (Profile profile : both) {
        row.add(seconds(profile.secondsPerRun(work)));
        row.add(percent(profile.cpu.seconds(work) / profile.cpu.seconds()));
      }
      table.add(row.toArray(String[]::new));
    }
    List<String> sum = new ArrayList<>(List.of("all"));
    for (Profile profile : both) {
      sum.add(seconds(profile.secondsPerRun()));
      sum.add("");
    }
    table.add(sum.toArray(String[]::new));
    return table;
  }

  private static Table topFrames(Profile profile) {
    Table table = new Table("top frames with " + profile.shuffle, "work", "CPU", "called from");
    for (CpuProfile.Top top : profile.cpu.top(TOP_FRAMES)) {
      table.add(
          top.frame(), top.work().label(), seconds(top.seconds() / profile.runs), top.caller());
    }
    return table;
  }

  private static String seconds(double value) {
    return String.format(Locale.ROOT, "%.3f s", value);
  }

  private static String percent(double share) {
    return String.format(Locale.ROOT, "%.1f %%", 100 * share);
  }

  private Map<String, Object> forPrograms() {
    Map<String, Object> jobs = new LinkedHashMap<>();
    profiles.forEach((job, both) -> jobs.put(job, both.stream().map(this::figures).toList()));
    return jobs;
  }

  private Map<String, Object> figures(Profile profile) {
    Map<String, Object> figures = new LinkedHashMap<>();
    figures.put("shuffle", profile.shuffle);
    figures.put("runs", profile.runs);
    Map<String, Double> work = new LinkedHashMap<>();
    for (Work kind : Work.values()) {
      work.put(kind.label(), profile.secondsPerRun(kind));
    }
    figures.put("cpuSecondsPerRun", work);
    figures.put("topFrames", profile.cpu.top(50));
    return figures;
  }
}
