package io.rdmashuffle.it.compatibility;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Writes the matrix of features and versions; see {@code bin/compatibility}. */
public final class CompatibilityDocument {
  private static final String INTRODUCTION =
      """
      # Compatibility

      What was tested with which Spark, made by `bin/compatibility` from the reports of the tests: do not
      edit. One plugin jar, built against the newest Spark, ran in all the columns; where no Java is
      named, on Java 17, and Scala is 2.13 where none is named. On another Java only the core set ran.

      yes: all the tests of the row passed; no: one failed; n/a: skipped, since that Spark lacks the
      feature or the machine what the test needs; empty: not run.

      """;

  private CompatibilityDocument() {}

  /**
   * Reads reports and writes the document.
   *
   * @param args the directory of the runs' reports, that of the test classes, and the document
   */
  public static void main(String[] args) throws IOException {
    if (args.length != 3) {
      throw new IllegalArgumentException(
          "expected REPORTS TEST_CLASSES DOCUMENT, found " + args.length + " arguments");
    }
    List<SparkRun> runs = SparkRun.under(Path.of(args[0]));
    if (runs.isEmpty()) {
      throw new IllegalArgumentException(
          "no reports of a Spark in " + args[0] + "; bin/test --spark VERSION makes them");
    }
    Files.writeString(Path.of(args[2]), text(FeatureTest.under(Path.of(args[1])), runs));
  }

  static String text(List<FeatureTest> tests, List<SparkRun> runs) {
    Map<String, List<FeatureTest>> byFeature =
        tests.stream()
            .collect(
                Collectors.groupingBy(
                    FeatureTest::feature, LinkedHashMap::new, Collectors.toList()));
    StringBuilder text = new StringBuilder(INTRODUCTION);
    row("feature", runs.stream().map(SparkRun::title).toList(), "shown by", text);
    row("---", runs.stream().map(run -> "---").toList(), "---", text);
    byFeature.forEach(
        (feature, shownBy) ->
            row(
                feature,
                runs.stream().map(run -> cell(run, shownBy)).toList(),
                shownBy.stream()
                    .map(test -> "`" + test.shortName() + "`")
                    .collect(Collectors.joining(", ")),
                text));
    return text.toString();
  }

  private static String cell(SparkRun run, List<FeatureTest> tests) {
    return run.outcome(tests)
        .map(
            outcome ->
                switch (outcome) {
                  case PASSED -> "yes";
                  case SKIPPED -> "n/a";
                  case FAILED -> "no";
                })
        .orElse("");
  }

  private static void row(String first, List<String> cells, String last, StringBuilder text) {
    text.append("| ").append(first).append(" | ");
    cells.forEach(cell -> text.append(cell).append(" | "));
    text.append(last).append(" |\n");
  }
}
