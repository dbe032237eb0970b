package io.rdmashuffle.it.compatibility;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;

/**
 * The tests on one Spark.
 *
 * @param spark its version, with its Scala where that is not the newest
 * @param java the Java that ran it, empty for the oldest that the plugin is for
 */
record SparkRun(String spark, String java, List<TestResult> results) {
  /** How {@code bin/test} names the directory of a run's reports. */
  private static final Pattern DIRECTORY =
      Pattern.compile("spark-([\\w.]+(?:-[\\w.]+)*?)-scala-([0-9.]+)(?:-java-(\\d+))?");

  /** Oldest first, other Javas last. */
  static final Comparator<SparkRun> ORDER =
      Comparator.comparing(SparkRun::java).thenComparing(SparkRun::spark);

  private static final Pattern ASSUMPTION = Pattern.compile("Assumption failed: ([^\\r\\n|]+)");
  private static final String JAVA = ", Java ";

  /** Those whose reports lie under a directory, in their order. */
  static List<SparkRun> under(Path results) throws IOException {
    List<SparkRun> runs = new ArrayList<>();
    try (Stream<Path> directories = Files.list(results)) {
      for (Path directory : directories.sorted().toList()) {
        Matcher name = DIRECTORY.matcher(directory.getFileName().toString());
        if (name.matches()) {
          runs.add(read(directory, name));
        }
      }
    }
    runs.sort(ORDER);
    return runs;
  }

  private static SparkRun read(Path directory, Matcher name) throws IOException {
    String scala = name.group(2).equals("2.13") ? "" : ", Scala " + name.group(2);
    List<TestResult> results = new ArrayList<>();
    try (Stream<Path> files = Files.list(directory)) {
      for (Path file : files.filter(path -> path.toString().endsWith(".xml")).toList()) {
        results.addAll(parse(file));
      }
    }
    return new SparkRun(
        name.group(1) + scala, Optional.ofNullable(name.group(3)).orElse(""), results);
  }

  private static List<TestResult> parse(Path report) throws IOException {
    List<TestResult> results = new ArrayList<>();
    try (InputStream in = Files.newInputStream(report)) {
      NodeList tests =
          DocumentBuilderFactory.newInstance()
              .newDocumentBuilder()
              .parse(in)
              .getElementsByTagName("testcase");
      for (int i = 0; i < tests.getLength(); i++) {
        Element test = (Element) tests.item(i);
        results.add(
            new TestResult(
                test.getAttribute("classname"),
                test.getAttribute("name"),
                outcome(test),
                reason(test)));
      }
    } catch (SAXException | ParserConfigurationException e) {
      throw new IOException(report + " is no report of tests", e);
    }
    return results;
  }

  private static TestResult.Outcome outcome(Element test) {
    if (has(test, "failure") || has(test, "error")) {
      return TestResult.Outcome.FAILED;
    }
    return has(test, "skipped") ? TestResult.Outcome.SKIPPED : TestResult.Outcome.PASSED;
  }

  /** JUnit and Surefire write it in different places. */
  private static String reason(Element test) {
    Node skipped = test.getElementsByTagName("skipped").item(0);
    if (skipped == null) {
      return "";
    }
    String message = ((Element) skipped).getAttribute("message") + skipped.getTextContent();
    Matcher reason = ASSUMPTION.matcher(message);
    return reason.find() ? reason.group(1).strip() : "";
  }

  private static boolean has(Element test, String child) {
    return test.getElementsByTagName(child).getLength() > 0;
  }

  /** The heading of its column. */
  String title() {
    return java.isEmpty() ? spark : spark + JAVA + java;
  }

  /** The run of a column's heading, without results. */
  static SparkRun ofTitle(String title) {
    String[] parts = title.split(JAVA, 2);
    return new SparkRun(parts[0], parts.length == 1 ? "" : parts[1], List.of());
  }

  /**
   * The result that says whether a feature works, of those of its tests: none when none of them
   * ran, one that failed where there is one, and one that was skipped only where all were.
   */
  Optional<TestResult> telling(List<FeatureTest> tests) {
    return results.stream()
        .filter(result -> tests.stream().anyMatch(test -> test.matches(result)))
        .reduce(SparkRun::worse);
  }

  private static TestResult worse(TestResult one, TestResult other) {
    if (one.outcome() == TestResult.Outcome.FAILED) {
      return one;
    }
    boolean isSkipped = one.outcome() == TestResult.Outcome.SKIPPED;
    return isSkipped || other.outcome() == TestResult.Outcome.FAILED ? other : one;
  }
}
