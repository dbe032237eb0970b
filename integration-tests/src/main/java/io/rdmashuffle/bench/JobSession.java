package io.rdmashuffle.bench;

import io.rdmashuffle.harness.Console;
import io.rdmashuffle.harness.JobReport;
import io.rdmashuffle.harness.RemoteApp;
import io.rdmashuffle.harness.Table;
import io.rdmashuffle.jobs.Job;
import io.rdmashuffle.jobs.JobInput;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.StringJoiner;

/** Applications that are alive at the same time and take turns at the same jobs. */
final class JobSession implements AutoCloseable {
  private final Console console;
  private final JobInput input;
  private final List<Side> sides = new ArrayList<>();
  private final List<RemoteApp> apps = new ArrayList<>();

  JobSession(Console console, JobInput input) {
    this.console = console;
    this.input = input;
  }

  /** Starts another application. */
  void start(Side side) {
    console.begin("starting the application with " + side.label());
    apps.add(RemoteApp.start(side.spec()));
    sides.add(side);
    console.end("up");
  }

  /**
   * Runs a job once in each application, one after the other.
   *
   * @param isReversed whether the last side comes first
   * @return in the order of the sides
   * @throws IllegalStateException when the results differ
   */
  List<JobReport> round(Job job, String which, boolean isReversed) {
    console.begin(job.name() + ", " + which);
    List<JobReport> runs = inTurn(job, isReversed);
    console.end(describe(runs));
    return runs;
  }

  private List<JobReport> inTurn(Job job, boolean isReversed) {
    JobReport[] runs = new JobReport[apps.size()];
    for (int i = 0; i < runs.length; i++) {
      int side = isReversed ? runs.length - 1 - i : i;
      runs[side] = apps.get(side).run(job.name(), input, tasks -> {});
    }
    for (int side = 1; side < runs.length; side++) {
      requireSame(runs[0], runs[side], sides.get(side));
    }
    return Arrays.asList(runs);
  }

  private static void requireSame(JobReport base, JobReport other, Side side) {
    other
        .result()
        .differenceFrom(base.result())
        .ifPresent(
            what -> {
              throw new IllegalStateException(
                  other.job() + ": the result with " + side.label() + " differs: " + what);
            });
  }

  private String describe(List<JobReport> runs) {
    StringJoiner line = new StringJoiner(", ");
    for (int side = 0; side < runs.size(); side++) {
      line.add(sides.get(side).label() + " " + Table.seconds(runs.get(side).seconds()));
    }
    return line.toString();
  }

  /** Stops all applications, also those that have failed. */
  @Override
  public void close() {
    apps.forEach(RemoteApp::close);
  }
}
