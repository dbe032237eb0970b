package io.rdmashuffle.chaos;

import io.rdmashuffle.harness.Console;
import io.rdmashuffle.harness.JsonFile;
import io.rdmashuffle.harness.Options;
import io.rdmashuffle.harness.Table;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/** Runs rounds for a time or a number, and reports each. */
public final class Chaos {
  private final Console console = new Console(System.out);
  private final Options options;

  private Chaos(Options options) {
    this.options = options;
  }

  /** See {@code bin/chaos --help}. */
  public static void main(String[] args) throws IOException {
    int status;
    try {
      Set<String> withValue = Set.of("--seed", "--minutes", "--rounds", "--json");
      status = new Chaos(Options.parse(args, withValue, Set.of())).run();
    } catch (IllegalArgumentException e) {
      System.err.println("chaos: " + e.getMessage());
      status = 2;
    } catch (IllegalStateException e) {
      System.err.println("chaos: " + e.getMessage());
      status = 1;
    }
    System.exit(status);
  }

  private int run() throws IOException {
    long seed = seed();
    long rounds = (long) options.number("--rounds", Long.MAX_VALUE);
    double minutes = options.number("--minutes", options.last("--rounds").isPresent() ? 1e6 : 5);
    long endNs = System.nanoTime() + (long) (minutes * TimeUnit.MINUTES.toNanos(1));
    List<RoundReport> reports = new ArrayList<>();
    console.begin("starting an application on the sort shuffle, to compare with");
    try (ChaosRun run = ChaosRun.open()) {
      console.end("up");
      for (long i = 0; i < rounds && (i == 0 || System.nanoTime() < endNs); i++) {
        reports.add(report(run, seed + i));
      }
    }
    long bad = reports.stream().filter(report -> !report.isSound()).count();
    console.say("");
    console.say(
        "%d rounds, %d jobs with the sort shuffle's results, %d rounds with faults"
            .formatted(reports.size(), reports.stream().mapToInt(RoundReport::jobs).sum(), bad));
    if (options.last("--json").isPresent()) {
      Path file = Path.of(options.last("--json").get());
      JsonFile.write(file, reports);
      console.say("Written: " + file);
    }
    return bad == 0 ? 0 : 1;
  }

  private RoundReport report(ChaosRun run, long seed) {
    console.begin("seed " + seed);
    RoundReport report = run.round(seed);
    console.end(report.plan());
    report.events().forEach(event -> console.say("    " + event));
    console.say(
        "    %d jobs right in %s; read %s, fallbacks %s"
            .formatted(
                report.jobs(),
                Table.seconds(report.seconds()),
                report.totals().bytes(),
                report.totals().fallbacks()));
    report
        .faults()
        .forEach(
            fault ->
                console.say("    FAULT: " + fault + "; again: --seed " + seed + " --rounds 1"));
    return report;
  }

  private long seed() {
    String text =
        options.last("--seed").orElse(Integer.toString(new SplittableRandom().nextInt(1_000_000)));
    try {
      return Long.parseLong(text);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          "--seed: expected a whole number, found '" + text + "'", e);
    }
  }
}
