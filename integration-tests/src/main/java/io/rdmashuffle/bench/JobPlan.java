package io.rdmashuffle.bench;

import io.rdmashuffle.harness.HarnessPaths;
import io.rdmashuffle.harness.Options;
import io.rdmashuffle.jobs.Job;
import io.rdmashuffle.jobs.JobInput;
import io.rdmashuffle.jobs.Jobs;
import io.rdmashuffle.jobs.TextCorpus;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.apache.spark.network.util.JavaUtils;

/**
 * Which jobs are run, on what, and how often.
 *
 * @param rounds most rounds of all jobs after each start; at least one is run
 * @param starts times the applications are started afresh
 * @param minutes after which no further round begins
 */
record JobPlan(List<Job> jobs, JobInput input, int rounds, int starts, double minutes) {
  /** Options with a value that say so. */
  static final Set<String> OPTIONS =
      Set.of("--rounds", "--starts", "--jobs", "--load", "--size", "--scale", "--text");

  private static final long TEXT_LIMIT = 24L << 20;

  /** What the options say; {@code --quick} changes what they do not say. */
  static JobPlan from(Options options) {
    boolean isQuick = options.has("--quick");
    List<Job> jobs =
        options
            .last("--jobs")
            .map(names -> Arrays.stream(names.split(",", -1)).map(Jobs::byName).toList())
            .orElse(Jobs.bench());
    return new JobPlan(
        jobs,
        input(options, isQuick),
        options.count("--rounds", isQuick ? 2 : 4),
        options.count("--starts", isQuick ? 1 : 3),
        options.number("--minutes", isQuick ? 5 : 30));
  }

  private static JobInput input(Options options, boolean isQuick) {
    String size = options.last("--size").orElse(isQuick ? "64m" : "256m");
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
          options.number("--scale", isQuick ? 0.05 : 0.2),
          options.number("--load", isQuick ? 0.2 : 1));
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          "--size: expected a size such as 256m or 2g, found '" + size + "'", e);
    }
  }
}
