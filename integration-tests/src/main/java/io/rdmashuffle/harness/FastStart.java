package io.rdmashuffle.harness;

import java.nio.file.Files;
import java.nio.file.Path;

/** Options that make short-lived executors start fast; never for measurements. */
final class FastStart {
  private static final String COMPILER = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC";

  private FastStart() {}

  /**
   * The archive is made by {@code bin/lib/class-archive}; without it executors just start slower.
   */
  static String executorOptions(Path sparkHome) {
    Path archive = sparkHome.resolve("executor.jsa");
    return Files.exists(archive)
        ? COMPILER + " -Xshare:auto -XX:SharedArchiveFile=" + archive
        : COMPILER;
  }
}
