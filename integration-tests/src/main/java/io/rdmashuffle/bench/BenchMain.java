package io.rdmashuffle.bench;

import io.rdmashuffle.harness.Console;
import io.rdmashuffle.harness.HarnessPaths;
import io.rdmashuffle.harness.JsonFile;
import io.rdmashuffle.harness.Options;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;

/** What every benchmark does around its measurements: options, errors, the file of figures. */
final class BenchMain {
  /** The measurements. */
  interface Benchmark {
    /** Measures, prints a table, and returns what goes to the file. */
    Outcome run(Options options, Console console) throws IOException;
  }

  /**
   * What a benchmark found.
   *
   * @param figures what a program may want to read
   * @param problem why the figures count for nothing; null when they do count
   */
  record Outcome(Object figures, String problem) {}

  private static final Set<String> COMMON_VALUES = Set.of("--conf", "--json", "--minutes");

  private BenchMain() {}

  /** Runs a benchmark and ends the process. */
  static void run(
      String name, String[] args, Set<String> withValue, Set<String> flags, Benchmark benchmark)
      throws IOException {
    System.exit(statusOf(name, args, withValue, flags, benchmark));
  }

  private static int statusOf(
      String name, String[] args, Set<String> withValue, Set<String> flags, Benchmark benchmark)
      throws IOException {
    Set<String> allValues = new HashSet<>(COMMON_VALUES);
    allValues.addAll(withValue);
    Set<String> allFlags = new HashSet<>(flags);
    allFlags.add("--quick");
    try {
      Options options = Options.parse(args, allValues, allFlags);
      Console console = new Console(System.out);
      Outcome outcome = benchmark.run(options, console);
      Path file =
          options
              .last("--json")
              .map(Path::of)
              .orElse(HarnessPaths.workDir().resolve("bench-" + name + ".json"));
      JsonFile.write(file, outcome.figures());
      console.say("All figures: " + file);
      if (outcome.problem() != null) {
        System.err.println("bench " + name + ": " + outcome.problem());
        return 1;
      }
      return 0;
    } catch (IllegalArgumentException e) {
      System.err.println("bench " + name + ": " + e.getMessage());
      return 2;
    } catch (IllegalStateException e) {
      System.err.println("bench " + name + ": " + e.getMessage());
      return 1;
    }
  }
}
