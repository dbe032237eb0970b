package io.rdmashuffle.demo;

import io.rdmashuffle.harness.ClusterSpec;
import io.rdmashuffle.harness.Console;
import io.rdmashuffle.harness.HarnessPaths;
import io.rdmashuffle.harness.JobReport;
import io.rdmashuffle.harness.Options;
import io.rdmashuffle.harness.RemoteApp;
import io.rdmashuffle.harness.ShuffleMode;
import io.rdmashuffle.harness.Table;
import io.rdmashuffle.jobs.Job;
import io.rdmashuffle.jobs.JobInput;
import io.rdmashuffle.jobs.Jobs;
import io.rdmashuffle.jobs.TextCorpus;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.apache.spark.network.util.JavaUtils;

/** Runs the demo's jobs with both shuffles, compares the results and reports. */
public final class Demo {
  private static final long TEXT_LIMIT = 24L << 20;

  private final Console console = new Console(System.out);
  private final Options options;

  private Demo(Options options) {
    this.options = options;
  }

  /** See {@code bin/demo --help}. */
  public static void main(String[] args) throws IOException {
    int status;
    try {
      status =
          new Demo(
                  Options.parse(
                      args,
                      Set.of("--size", "--text", "--scale", "--conf", "--json", "--jobs"),
                      Set.of("--sort-only")))
              .run();
    } catch (IllegalArgumentException e) {
      System.err.println("demo: " + e.getMessage());
      status = 2;
    } catch (IllegalStateException e) {
      System.err.println("demo: " + e.getMessage());
      status = 1;
    }
    System.exit(status);
  }

  private int run() throws IOException {
    List<Job> jobs = chosenJobs();
    JobInput input =
        new JobInput(
            HarnessPaths.workDir().resolve("data").toString(),
            sortBytes(),
            texts(),
            options.number("--scale", 0.2),
            1);
    console.say("Jobs:");
    jobs.forEach(job -> console.say("  %-12s%s".formatted(job.name(), job.describe(input))));
    List<JobReport> sort = runAll(ShuffleMode.SORT, jobs, input, Map.of());
    if (options.has("--sort-only")) {
      return 0;
    }
    Map<String, String> settings = options.settings("--conf");
    List<JobReport> plugin = runAll(ShuffleMode.PLUGIN, jobs, input, settings);
    return report(sort, plugin, settings);
  }

  private List<JobReport> runAll(
      ShuffleMode mode, List<Job> jobs, JobInput input, Map<String, String> settings) {
    console.say("With the " + mode.label() + ":");
    ClusterSpec spec =
        ClusterSpec.forMeasuring("demo-" + mode.name().toLowerCase(Locale.ROOT), mode)
            .with("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
            .with(settings);
    List<JobReport> reports = new ArrayList<>();
    console.begin("starting an application with two executors");
    try (RemoteApp app = RemoteApp.start(spec)) {
      console.end("up");
      for (Job job : jobs) {
        console.begin(job.name());
        JobReport report =
            app.run(job.name(), input, tasks -> console.progress(tasks + " tasks done"));
        console.end(Table.seconds(report.seconds()));
        reports.add(report);
      }
      app.stop();
    }
    return reports;
  }

  private int report(List<JobReport> sort, List<JobReport> plugin, Map<String, String> settings)
      throws IOException {
    List<Comparison> comparisons = new ArrayList<>();
    for (int i = 0; i < sort.size(); i++) {
      comparisons.add(new Comparison(sort.get(i), plugin.get(i)));
    }
    boolean oneSidedWanted = !switchedOff(settings);
    DemoReport report = new DemoReport(comparisons, oneSidedWanted);
    console.say("");
    console.say(report.table());
    if (options.last("--json").isPresent()) {
      Path file = Path.of(options.last("--json").get());
      report.writeJson(file);
      console.say("Written: " + file);
    }
    if (!oneSidedWanted) {
      console.say("One-sided reads were switched off by spark.shuffle.rdma.transports.");
    }
    List<String> failures = report.failures();
    failures.forEach(failure -> System.err.println("demo: " + failure));
    if (failures.isEmpty()) {
      console.say("All results are equal to the last record, and every remote byte is accounted.");
    }
    return failures.isEmpty() ? 0 : 1;
  }

  private static boolean switchedOff(Map<String, String> settings) {
    String transports = settings.get("spark.shuffle.rdma.transports");
    return transports != null && Set.of("tcp").containsAll(List.of(transports.split(",", -1)));
  }

  private List<Job> chosenJobs() {
    return options
        .last("--jobs")
        .map(names -> Arrays.stream(names.split(",", -1)).map(Jobs::byName).toList())
        .orElse(Jobs.demo());
  }

  private long sortBytes() {
    String size = options.last("--size").orElse("1g");
    try {
      return JavaUtils.byteStringAsBytes(size);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          "--size: expected a size such as 256m or 2g, found '" + size + "'", e);
    }
  }

  private List<String> texts() {
    return options
        .last("--text")
        .map(dir -> TextCorpus.in(Path.of(dir)))
        .orElseGet(() -> TextCorpus.onThisMachine(TEXT_LIMIT));
  }
}
