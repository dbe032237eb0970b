package io.rdmashuffle.bench;

import io.rdmashuffle.harness.Console;
import io.rdmashuffle.harness.JobReport;
import io.rdmashuffle.harness.Options;
import io.rdmashuffle.jobs.Job;
import java.io.IOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Whole jobs, plugin against sort shuffle: all applications alive, A B C then C B A, started afresh
 * several times, one warm-up, medians of the ratios within rounds.
 */
public final class JobBench {
  private static final String BUDGET = "--budget";

  private final Console console;
  private final JobPlan plan;
  private final JobSides sides;
  private final Optional<BudgetShare> budget;
  private final Map<String, Long> writtenBytes = new HashMap<>();
  private final TimeLimit limit;
  private final Map<String, JobSeries> series = new LinkedHashMap<>();

  private JobBench(Options options, Console console) {
    this.console = console;
    plan = JobPlan.from(options);
    sides = new JobSides(options);
    budget = options.last(BUDGET).map(BudgetShare::parse);
    limit = TimeLimit.of(plan.minutes(), System::nanoTime);
  }

  /** See {@code bin/bench --help}. */
  public static void main(String[] args) throws IOException {
    Set<String> withValue = new HashSet<>(JobPlan.OPTIONS);
    withValue.addAll(Set.of(BUDGET, JobSides.LOCAL_DIR));
    BenchMain.run(
        "job",
        args,
        withValue,
        Set.of(JobSides.NO_TMPFS),
        (options, console) -> new JobBench(options, console).run());
  }

  private BenchMain.Outcome run() throws IOException {
    for (Job job : plan.jobs()) {
      console.say("  %-12s%s".formatted(job.name(), job.describe(plan.input())));
      series.put(job.name(), new JobSeries());
    }
    List<Side> compared = budget.isPresent() ? List.of(sides.sort(), sides.plugin()) : sides.all();
    try {
      for (int start = 1; start <= plan.starts(); start++) {
        console.say("Start %d of %d".formatted(start, plan.starts()));
        if (budget.isPresent()) {
          runWithinBudget(start);
        } else {
          runTogether(start, compared);
        }
      }
    } finally {
      JobSides.cleanUp();
    }
    JobFigures figures = new JobFigures(compared.stream().map(Side::label).toList(), series);
    console.say("");
    console.say(figures.table().toString());
    console.say(figures.firstRuns().toString());
    figures.legend().forEach(console::say);
    return new BenchMain.Outcome(figures.forPrograms(), null);
  }

  /** All jobs in the same applications, round by round. */
  private void runTogether(int start, List<Side> compared) {
    try (JobSession session = new JobSession(console, plan.input())) {
      compared.forEach(session::start);
      for (Job job : plan.jobs()) {
        List<JobReport> first = session.round(job, "first run", start % 2 == 0);
        series.get(job.name()).startAfresh(first);
      }
      measure(session, plan.jobs(), start, start, plan.starts());
    }
  }

  /** Each job in applications of its own, since the budget is a setting of the application. */
  private void runWithinBudget(int start) {
    int parts = plan.starts() * plan.jobs().size();
    int part = (start - 1) * plan.jobs().size();
    for (Job job : plan.jobs()) {
      part++;
      writtenBytes.computeIfAbsent(job.name(), name -> bytesWrittenBy(job));
      try (JobSession session = new JobSession(console, plan.input())) {
        session.start(sides.sort());
        Side plugin = sides.plugin();
        session.start(
            new Side(
                plugin.label(), budget.get().applyTo(plugin.spec(), writtenBytes.get(job.name()))));
        series.get(job.name()).startAfresh(session.round(job, "first run", false));
        measure(session, List.of(job), start, part, parts);
      }
    }
  }

  /** Found out in an application of its own, so that none has run the job before its first run. */
  private long bytesWrittenBy(Job job) {
    try (JobSession session = new JobSession(console, plan.input())) {
      session.start(sides.sort());
      return session.round(job, "to see what it writes", false).get(0).metrics().writtenBytes();
    }
  }

  private void measure(JobSession session, List<Job> jobs, int start, int part, int parts) {
    for (int round = 1; round <= plan.rounds(); round++) {
      for (Job job : jobs) {
        if (round > 1 && limit.isPast(part, parts)) {
          console.say("  the time is up after %d rounds".formatted(round - 1));
          return;
        }
        String which = "round %d of %d".formatted(round, plan.rounds());
        series.get(job.name()).add(session.round(job, which, (round + start) % 2 == 0));
      }
    }
  }
}
