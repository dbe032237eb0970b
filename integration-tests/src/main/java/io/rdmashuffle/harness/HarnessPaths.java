package io.rdmashuffle.harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Where the build left what the harness needs; told by system properties and SPARK_HOME. */
public final class HarnessPaths {
  private HarnessPaths() {}

  /**
   * Spark's "installation".
   *
   * @throws IllegalStateException when the environment or the directory is not as Spark needs it
   */
  public static Path sparkHome() {
    String home = System.getenv("SPARK_HOME");
    if (home == null) {
      throw new IllegalStateException(
          "SPARK_HOME is not in the environment; local-cluster needs it to find jars/. "
              + "Start through bin/demo, bin/bench or Maven, which set it.");
    }
    if (System.getenv("SPARK_SCALA_VERSION") == null) {
      throw new IllegalStateException(
          "SPARK_SCALA_VERSION is not in the environment (expected 2.13); "
              + "without it executors of local-cluster do not start.");
    }
    Path path = Path.of(home);
    if (!Files.isDirectory(path.resolve("jars"))) {
      throw new IllegalStateException(
          "no directory " + path.resolve("jars") + "; build it with mvn -DskipTests package");
    }
    return path;
  }

  /** The jar users pass to {@code --jars}. */
  public static Path pluginJar() {
    Path jar = Path.of(required("harness.plugin.jar")).toAbsolutePath().normalize();
    if (!Files.isRegularFile(jar)) {
      throw new IllegalStateException(
          "no plugin jar at " + jar + "; build it with mvn -DskipTests package");
    }
    return jar;
  }

  /** Jars with our jobs, which executors download from the driver. */
  public static List<Path> userJars() {
    Path dir = Path.of(required("harness.user.jars"));
    try (Stream<Path> files = Files.list(dir)) {
      List<Path> jars =
          new ArrayList<>(files.filter(p -> p.toString().endsWith(".jar")).sorted().toList());
      if (jars.isEmpty()) {
        throw new IllegalStateException("no jar in " + dir + "; mvn -DskipTests package makes it");
      }
      return jars;
    } catch (IOException e) {
      throw new UncheckedIOException("cannot list the job jars in " + dir, e);
    }
  }

  /** A directory for what a run leaves: local directories, data, logs. */
  public static Path workDir() {
    return Path.of(required("harness.dir")).toAbsolutePath();
  }

  /** The log of this JVM, a driver. */
  public static Path driverLog() {
    return Path.of(required("harness.log")).toAbsolutePath();
  }

  /** How executors log. */
  static Path executorLogConfiguration() {
    return Path.of(required("log4j2.configurationFile"))
        .toAbsolutePath()
        .resolveSibling("executor-log4j2.properties");
  }

  private static String required(String property) {
    String value = System.getProperty(property);
    if (value == null) {
      throw new IllegalStateException(
          "system property " + property + " is missing; bin/demo, bin/bench and Maven set it");
    }
    return value;
  }
}
