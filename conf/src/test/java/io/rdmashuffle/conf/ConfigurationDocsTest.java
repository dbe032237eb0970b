package io.rdmashuffle.conf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * Keeps {@code docs/configuration.md} equal to the keys: it is generated here, whole, and compared.
 */
class ConfigurationDocsTest {
  private static final String REGENERATE = "mvn -o -pl conf test -Dconf.regenerate=true";
  private static final Path FILE =
      Path.of(System.getProperty("basedir", "."), "..", "docs", "configuration.md");

  @Test
  void docsMatchTheKeys() throws IOException {
    final String expected = document();
    if (Boolean.getBoolean("conf.regenerate")) {
      Files.createDirectories(FILE.getParent());
      Files.writeString(FILE, expected);
    }
    final String actual = Files.exists(FILE) ? Files.readString(FILE) : "";
    assertEquals(expected, actual, "docs/configuration.md is stale; run: " + REGENERATE);
  }

  @Test
  void everyKeyAndEveryOldKeyIsDocumented() {
    final String document = document();
    ConfigKeys.all().forEach(key -> assertTrue(document.contains("`" + key + "`"), key.name()));
    ConfigKeys.RETIRED
        .keySet()
        .forEach(name -> assertTrue(document.contains("`" + name + "`"), name));
  }

  private static String document() {
    return INTRODUCTION
        + ConfigKeys.SECTIONS.stream()
            .map(ConfigurationDocsTest::section)
            .collect(Collectors.joining("\n"))
        + "\n"
        + aliases()
        + "\n"
        + retired();
  }

  private static String section(ConfigKeys.Section section) {
    return section.keys().stream()
        .map(ConfigurationDocsTest::row)
        .collect(
            Collectors.joining(
                "\n",
                "## "
                    + section.title()
                    + "\n\n| key | default | takes | since | what it does |\n|---|---|---|---|---|\n",
                "\n"));
  }

  private static String row(ConfigKey<?> key) {
    return "| `%s` | `%s` | %s | %s | %s |"
        .formatted(key.name(), key.defaultText(), key.allowed(), key.since(), key.doc());
  }

  private static String aliases() {
    return ConfigKeys.all()
        .flatMap(
            key ->
                key.aliases().stream()
                    .map(alias -> "| `%s` | `%s` |".formatted(alias.name(), key.name())))
        .sorted()
        .collect(Collectors.joining("\n", ALIASES, "\n"));
  }

  private static String retired() {
    return ConfigKeys.RETIRED.entrySet().stream()
        .map(entry -> "| `%s` | %s |".formatted(entry.getKey(), entry.getValue()))
        .collect(Collectors.joining("\n", RETIRED, "\n"));
  }

  private static final String INTRODUCTION =
      """
      <!-- Generated from conf/src/main/java/io/rdmashuffle/conf/ConfigKeys.java. To change it, edit
           the keys there and run: %s -->

      # Configuration

      One setting turns the plugin on, and all others have defaults meant to be left alone:

          spark.shuffle.manager=io.rdmashuffle.RdmaShuffleManager

      Keys are set as any of Spark's: in `spark-defaults.conf`, with `--conf`, or in the
      application's `SparkConf`. They are read once, when the shuffle manager starts.

      - **Sizes**: `64m`, `64mb` or `64MiB`, with `b`, `k`, `m`, `g`, `t`, `p` as powers of 1024. A
        plain number is bytes. No fractions.
      - **Durations**: `10s`, with `us`, `ms`, `s`, `m` or `min`, `h`, `d`. A plain number is
        milliseconds. No fractions.
      - Bounds include both ends.
      - **Mistakes stop the application at its start**, all named in one message: an unknown key
        under `spark.shuffle.rdma.` (with the nearest known one), a value that is not allowed, keys
        that contradict each other. Nothing is adjusted silently.

      Text such as `read.timeout` below is short for `spark.shuffle.rdma.read.timeout`.

      """
          .formatted(REGENERATE);

  private static final String ALIASES =
      """
      ## Coming from SparkRDMA

      SparkRDMA's keys begin with the same prefix. These still work, with a warning; to set one and
      its successor is an error.

      | SparkRDMA's key | use |
      |---|---|
      """;

  private static final String RETIRED =
      """
      `maxBytesInFlight` keeps its name, but counts for an executor rather than a task. A port `N`
      in `executorPort` is read as `port` with `N` and the 16 ports above it, those that SparkRDMA
      would have tried.

      These are gone; an application that sets one does not start:

      | SparkRDMA's key | what to do |
      |---|---|
      """;
}
