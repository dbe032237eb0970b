package io.rdmashuffle.harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Logs of the applications that this JVM started, here or in other processes, and what the plugin
 * complains of in them. Thread-safe.
 */
public final class AppLogs {
  private static final Map<Path, LogTail> TAILS = new LinkedHashMap<>();
  private static final Set<Path> EXECUTOR_LOGS = new LinkedHashSet<>();

  private static final int MAX_ERRORS_OF_ONE = 5;

  private AppLogs() {}

  /** A driver's log counts from now on. */
  static synchronized void watchDriver(Path log) {
    TAILS.computeIfAbsent(log, LogTail::fromEnd);
  }

  /** The logs of an application's executors count, from their beginning. */
  static synchronized void watchExecutors(Path directory) {
    EXECUTOR_LOGS.add(directory);
  }

  /** Warnings and errors of the plugin's own loggers that this method has not given before. */
  public static synchronized List<LogWarning> newWarnings() {
    for (Path directory : EXECUTOR_LOGS) {
      executorLogs(directory).forEach(log -> TAILS.computeIfAbsent(log, LogTail::fromBeginning));
    }
    List<LogWarning> warnings = new ArrayList<>();
    TAILS.values().forEach(tail -> warnings.addAll(tail.newWarnings()));
    return warnings;
  }

  /** The first errors and exceptions, Spark's own included, in the logs of some executors. */
  static List<String> errors(Path directory) {
    List<String> errors = new ArrayList<>();
    for (Path log : executorLogs(directory)) {
      try (Stream<String> lines = Files.lines(log)) {
        lines
            .filter(line -> line.contains(" ERROR ") || line.contains("Exception"))
            .limit(MAX_ERRORS_OF_ONE)
            .forEach(errors::add);
      } catch (IOException | UncheckedIOException e) {
        errors.add(log + " cannot be read: " + e);
      }
    }
    return errors;
  }

  private static List<Path> executorLogs(Path directory) {
    List<Path> logs = new ArrayList<>();
    if (Files.isDirectory(directory)) {
      try (DirectoryStream<Path> executors = Files.newDirectoryStream(directory)) {
        executors.forEach(executor -> logs.add(executor.resolve("stderr")));
      } catch (IOException e) {
        throw new UncheckedIOException("cannot list the executors' logs in " + directory, e);
      }
    }
    return logs;
  }
}
