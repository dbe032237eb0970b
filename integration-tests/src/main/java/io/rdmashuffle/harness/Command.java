package io.rdmashuffle.harness;

import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** The system's own programs. */
public final class Command {
  private Command() {}

  /**
   * Runs a program and gives what it prints.
   *
   * @throws IllegalStateException with what it printed, when it cannot be run or does not succeed
   */
  public static String run(String... command) {
    return run(true, command);
  }

  /** Runs a program whose success does not matter. */
  public static void tryTo(String... command) {
    run(false, command);
  }

  private static String run(boolean mustSucceed, String... command) {
    try {
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      process.getOutputStream().close();
      String text =
          new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
      int code = process.waitFor();
      if (mustSucceed && code != 0) {
        throw new IllegalStateException(
            "'%s' ended with code %d: %s".formatted(String.join(" ", command), code, text));
      }
      return text;
    } catch (IOException e) {
      throw new IllegalStateException("cannot run '" + String.join(" ", command) + "'", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted amid '" + String.join(" ", command) + "'", e);
    }
  }
}
