package io.rdmashuffle.harness;

import java.nio.file.Files;
import java.nio.file.Path;

/** Options that make short-lived executors start fast; never for measurements. */
final class FastStart {
  static final String COMPILER = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC";

  private FastStart() {}

  /** Made by {@link ClassArchive}; without it executors just start slower. */
  static Path archive(Path sparkHome) {
    return sparkHome.resolve("executor.jsa");
  }

  static String executorOptions(Path sparkHome) {
    Path archive = archive(sparkHome);
    return Files.exists(archive)
        ? COMPILER + " -Xshare:auto -XX:SharedArchiveFile=" + archive
        : COMPILER;
  }
}
