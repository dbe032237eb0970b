package io.rdmashuffle.harness;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Follows one log that is still written. The caller sees to it that one thread uses it at a time.
 */
final class LogTail {
  // As the layouts in src/main/conf write it: time, level, logger.
  private static final Pattern WARNING = Pattern.compile("\\S+ (WARN|ERROR) io\\.rdmashuffle\\..*");

  private final Path file;
  private long position;

  private LogTail(Path file, long position) {
    this.file = file;
    this.position = position;
  }

  static LogTail fromBeginning(Path file) {
    return new LogTail(file, 0);
  }

  /** Leaves out what is in the file by now. */
  static LogTail fromEnd(Path file) {
    try {
      return new LogTail(file, Files.exists(file) ? Files.size(file) : 0);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot look at " + file, e);
    }
  }

  /** The plugin's warnings in the lines that were completed since the last call. */
  List<LogWarning> newWarnings() {
    return newLines()
        .lines()
        .filter(line -> WARNING.matcher(line).matches())
        .map(line -> new LogWarning(file, line))
        .toList();
  }

  private String newLines() {
    if (!Files.exists(file)) {
      return "";
    }
    try (RandomAccessFile log = new RandomAccessFile(file.toFile(), "r")) {
      byte[] bytes = new byte[Math.toIntExact(Math.max(0, log.length() - position))];
      log.seek(position);
      log.readFully(bytes);
      int end = bytes.length;
      while (end > 0 && bytes[end - 1] != '\n') {
        end--;
      }
      position += end;
      return new String(bytes, 0, end, StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + file, e);
    }
  }
}
