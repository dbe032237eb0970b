package io.rdmashuffle.it.compatibility;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.it.Feature;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CompatibilityDocumentTest {
  private static final String MODULE = System.getProperty("basedir", ".");
  private static final Path DOCUMENT = Path.of(MODULE, "..", "docs", "compatibility.md");
  private static final Path TEST_CLASSES = Path.of(MODULE, "target", "test-classes");
  private static final Pattern TEST_NAME = Pattern.compile("`([^`]+)`");

  @TempDir Path reports;

  /** What the document says is shown by a test must still be shown by it. */
  @Test
  void everyTestThatTheDocumentNamesShowsItsFeature() throws IOException {
    Set<String> known =
        FeatureTest.under(TEST_CLASSES).stream()
            .map(test -> test.feature() + " by " + test.shortName())
            .collect(Collectors.toSet());
    List<String> rows =
        Files.readAllLines(DOCUMENT).stream()
            .filter(line -> line.startsWith("| ") && line.contains("`"))
            .toList();
    assertTrue(rows.size() > 5, () -> "too few rows: " + rows);
    for (String row : rows) {
      String feature = row.split(" \\| ", 2)[0].substring("| ".length());
      for (String claim :
          TEST_NAME.matcher(row).results().map(test -> feature + " by " + test.group(1)).toList()) {
        assertTrue(known.contains(claim), () -> claim + ": no such test; run bin/compatibility");
      }
    }
  }

  @Test
  void aFeatureWorksWhereAllItsTestsPass() throws IOException {
    report("spark-4.1.3-scala-2.13", passed("firstOfTwo()") + passed("secondOfTwo()"));
    report("spark-3.5.9-scala-2.12", passed("firstOfTwo()") + failed("secondOfTwo()"));
    assertEquals(List.of("no", "yes"), cells("two tests", "3.5.9, Scala 2.12", "4.1.3"));
  }

  @Test
  void aClassShowsItsFeatureByAllItsTests() throws IOException {
    report("spark-4.1.3-scala-2.13", passed("firstOfTwo()") + passed("made()[1][2]"));
    report("spark-4.2.0-scala-2.13", passed("made()[1][1]") + failed("made()[1][2]"));
    assertEquals(List.of("yes", "no"), cells("the class", "4.1.3", "4.2.0"));
  }

  @Test
  void testsThatDidNotRunShowNothing() throws IOException {
    report("spark-4.1.3-scala-2.13", skipped("single()"));
    report("spark-4.2.0-scala-2.13", passed("firstOfTwo()"));
    report("spark-4.2.0-scala-2.13-java-25", passed("singleOfAnotherName()"));
    assertEquals(
        List.of("n/a", "", ""), cells("a single test", "4.1.3", "4.2.0", "4.2.0, Java 25"));
  }

  @Test
  void theReasonOfASkippedTestStandsInItsCell() throws IOException {
    String byJunit = "<skipped><![CDATA[a.B: Assumption failed: too old\n\tat c.D]]></skipped>";
    report("spark-4.1.3-scala-2.13", testCase("single()", byJunit));
    String bySurefire = "<skipped message=\"Assumption failed: too new\"/>";
    report("spark-4.2.0-scala-2.13", testCase("single()", bySurefire));
    assertEquals(List.of("n/a: too old", "n/a: too new"), cells("a single test", "4.1.3", "4.2.0"));
  }

  @Test
  void aFeatureWorksWhereSomeOfItsTestsPassAndTheOthersAreSkipped() throws IOException {
    report("spark-4.1.3-scala-2.13", skipped("firstOfTwo()") + passed("secondOfTwo()"));
    report("spark-4.2.0-scala-2.13", passed("firstOfTwo()") + skipped("secondOfTwo()"));
    assertEquals(List.of("yes", "yes"), cells("two tests", "4.1.3", "4.2.0"));
  }

  @Test
  void whatTheDocumentSaysOfOtherRunsIsKept() throws IOException {
    report("spark-4.1.3-scala-2.13", passed("single()"));
    report("spark-4.2.0-scala-2.13", skipped("single()") + failed("firstOfTwo()"));
    report("spark-4.2.0-scala-2.13-java-25", passed("single()"));
    EarlierDocument earlier = EarlierDocument.parse(text(EarlierDocument.NONE));
    forget("spark-4.1.3-scala-2.13", "spark-4.2.0-scala-2.13-java-25");
    report("spark-4.2.0-scala-2.13", passed("single()"));
    String text = text(earlier);
    assertEquals(List.of("yes", "yes", "yes"), cells(text, "a single test", 3));
    assertEquals(List.of("", "no", ""), cells(text, "two tests", 3));
    assertTrue(text.contains("| 4.1.3 | 4.2.0 | 4.2.0, Java 25 |"), text);
  }

  @Test
  void whatOtherTestsShowedIsNotKept() throws IOException {
    report("spark-4.1.3-scala-2.13", passed("firstOfTwo()") + passed("secondOfTwo()"));
    String withAnotherTest = text(EarlierDocument.NONE).replace("Sample.second", "Sample.third");
    report("spark-4.1.3-scala-2.13", passed("single()"));
    assertEquals(List.of(""), cells(text(EarlierDocument.parse(withAnotherTest)), "two tests", 1));
  }

  @Test
  void otherDirectoriesAreNoRuns() throws IOException {
    report("unit-tests", passed("single()"));
    String[] arguments = {reports.toString(), TEST_CLASSES.toString(), "/no/such/document"};
    IllegalArgumentException refusal =
        assertThrows(IllegalArgumentException.class, () -> CompatibilityDocument.main(arguments));
    assertTrue(refusal.getMessage().contains("bin/test --spark"), refusal.getMessage());
  }

  private List<String> cells(String feature, String... expectedColumns) throws IOException {
    List<SparkRun> runs = SparkRun.under(reports);
    assertEquals(List.of(expectedColumns), runs.stream().map(SparkRun::title).toList());
    return cells(text(EarlierDocument.NONE), feature, expectedColumns.length);
  }

  private String text(EarlierDocument earlier) throws IOException {
    return CompatibilityDocument.text(
        FeatureTest.of(Sample.class), SparkRun.under(reports), earlier);
  }

  private static List<String> cells(String text, String feature, int columns) {
    String row =
        text.lines()
            .filter(line -> line.startsWith("| " + feature + " |"))
            .findFirst()
            .orElseThrow();
    return List.of(row.split("\\|", -1)).subList(2, 2 + columns).stream()
        .map(String::strip)
        .toList();
  }

  private void forget(String... runs) throws IOException {
    for (String run : runs) {
      Files.delete(reports.resolve(run).resolve("TEST-sample.xml"));
      Files.delete(reports.resolve(run));
    }
  }

  private void report(String run, String tests) throws IOException {
    Path directory = Files.createDirectories(reports.resolve(run));
    Files.writeString(directory.resolve("TEST-sample.xml"), "<testsuite>" + tests + "</testsuite>");
  }

  private static String passed(String test) {
    return testCase(test, "");
  }

  private static String failed(String test) {
    return testCase(test, "<failure/>");
  }

  private static String skipped(String test) {
    return testCase(test, "<skipped/>");
  }

  private static String testCase(String test, String outcome) {
    return "<testcase name=\"%s\" classname=\"%s\">%s</testcase>"
        .formatted(test, Sample.class.getName(), outcome);
  }

  /** Only its annotations count. */
  @Feature("the class")
  abstract static class Sample {
    @Feature("two tests")
    abstract void firstOfTwo();

    @Feature("two tests")
    abstract void secondOfTwo();

    @Feature("a single test")
    abstract void single();
  }
}
