package io.rdmashuffle.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Keeps {@code docs/reliability.md} to promises that a test stands for. */
class ReliabilityDocsTest {
  private static final Path ROOT = Path.of(System.getProperty("basedir", ".")).resolve("..");
  private static final Pattern NAME = Pattern.compile("`(\\w+Test)`");

  @Test
  void everyTestThatIsNamedExists() throws IOException {
    Set<String> missing = new TreeSet<>();
    Matcher names = NAME.matcher(document());
    while (names.find()) {
      missing.add(names.group(1));
    }
    assertFalse(missing.isEmpty(), "no test is named");
    missing.removeAll(testClasses());
    assertEquals(Set.of(), missing);
  }

  @Test
  void everyPromiseNamesATestAndItsTrials() throws IOException {
    List<String> rows =
        document()
            .lines()
            .filter(line -> line.startsWith("| ") && !line.startsWith("| promise |"))
            .toList();
    assertFalse(rows.isEmpty(), "nothing is promised");
    for (String row : rows) {
      String[] cells = row.split("\\|", -1);
      assertEquals(5, cells.length, row);
      assertTrue(NAME.matcher(cells[2]).find(), row);
      assertFalse(cells[1].isBlank() || cells[3].isBlank(), row);
    }
  }

  private static String document() throws IOException {
    return Files.readString(ROOT.resolve("docs/reliability.md"));
  }

  private static Set<String> testClasses() throws IOException {
    try (Stream<Path> modules = Files.list(ROOT)) {
      return modules
          .map(module -> module.resolve("src/test/java"))
          .filter(Files::isDirectory)
          .flatMap(ReliabilityDocsTest::javaFiles)
          .map(file -> file.getFileName().toString().replace(".java", ""))
          .collect(Collectors.toSet());
    }
  }

  private static Stream<Path> javaFiles(Path directory) {
    try (Stream<Path> files = Files.walk(directory)) {
      return files.filter(file -> file.toString().endsWith(".java")).toList().stream();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }
}
