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

/**
 * Logs of the applications that this JVM started, here or in other processes, and what the plugin
 * complains of in them. Thread-safe.
 */
public final class AppLogs {
  private static final Map<Path, LogTail> TAILS = new LinkedHashMap<>();
  private static final Set<Path> EXECUTOR_LOGS = new LinkedHashSet<>();

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
