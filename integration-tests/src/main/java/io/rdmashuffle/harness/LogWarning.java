package io.rdmashuffle.harness;

import java.nio.file.Path;

/**
 * A line of a log at WARN or ERROR by one of the plugin's loggers.
 *
 * @param log the file it stands in
 * @param line the whole line; a stack trace may follow it in the file
 */
public record LogWarning(Path log, String line) {
  @Override
  public String toString() {
    return log + ": " + line;
  }
}
