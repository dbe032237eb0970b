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
  /** The heading of the first column. */
  static final String FEATURE = "feature";

  private static final String INTRODUCTION =
      """
      # Compatibility

      What was tested with which Spark, made by `bin/compatibility` from the reports of the tests: do not
      edit. One plugin jar, built against the newest Spark, ran in all the columns; where no Java is
      named, on Java 17, and Scala is 2.13 where none is named. On another Java only the core set ran.

      yes: all the tests of the row passed; no: one failed; n/a: skipped, since that Spark lacks the
      feature or the machine what the test needs; empty: not run. Cells may be of different runs.

      """;

  private CompatibilityDocument() {}

  /**
   * Reads reports and writes the document.
   *
   * @param args the directory of the runs' reports, that of the test classes, and the document;
   *     then perhaps {@code --keep}, for what the document says of tests that have no report
   */
  public static void main(String[] args) throws IOException {
    boolean isKept = args.length == 4 && args[3].equals("--keep");
    if (args.length != 3 && !isKept) {
      throw new IllegalArgumentException(
          "expected REPORTS TEST_CLASSES DOCUMENT [--keep], found " + List.of(args));
    }
    List<SparkRun> runs = SparkRun.under(Path.of(args[0]));
    if (runs.isEmpty()) {
      throw new IllegalArgumentException(
          "no reports of a Spark in " + args[0] + "; bin/test --spark VERSION makes them");
    }
    Path document = Path.of(args[2]);
    EarlierDocument earlier =
        isKept ? EarlierDocument.parse(Files.readString(document)) : EarlierDocument.NONE;
    Files.writeString(document, text(FeatureTest.under(Path.of(args[1])), runs, earlier));
  }

  static String text(List<FeatureTest> tests, List<SparkRun> reported, EarlierDocument earlier) {
    List<SparkRun> runs = earlier.withColumns(reported);
    Map<String, List<FeatureTest>> byFeature =
        tests.stream()
            .collect(
                Collectors.groupingBy(
                    FeatureTest::feature, LinkedHashMap::new, Collectors.toList()));
    StringBuilder text = new StringBuilder(INTRODUCTION);
    row(FEATURE, runs.stream().map(SparkRun::title).toList(), "shown by", text);
    row("---", runs.stream().map(run -> "---").toList(), "---", text);
    byFeature.forEach(
        (feature, shownBy) -> {
          String names =
              shownBy.stream()
                  .map(test -> "`" + test.shortName() + "`")
                  .collect(Collectors.joining(", "));
          List<String> cells =
              runs.stream()
                  .map(
                      run ->
                          run.telling(shownBy)
                              .map(TestResult::text)
                              .orElseGet(() -> earlier.cell(run.title(), feature, names)))
                  .toList();
          row(feature, cells, names, text);
        });
    return text.toString();
  }

  private static void row(String first, List<String> cells, String last, StringBuilder text) {
    text.append("| ").append(first).append(" | ");
    cells.forEach(cell -> text.append(cell).append(" | "));
    text.append(last).append(" |\n");
  }
}
