package io.rdmashuffle.bench;

import io.rdmashuffle.harness.ClusterSpec;
import io.rdmashuffle.harness.Options;
import io.rdmashuffle.harness.ShuffleMode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * The applications that are compared: Spark's sort shuffle on a disk and on a tmpfs, the plugin.
 */
final class JobSides {
  /** Options with a value that say which. */
  static final String LOCAL_DIR = "--local-dir";

  /** Leaves out the sort shuffle whose files are on a tmpfs. */
  static final String NO_TMPFS = "--no-tmpfs";

  private static final Path TMPFS_DIR = Path.of("/dev/shm/bench-sort-local");

  private final Options options;

  JobSides(Options options) {
    this.options = options;
  }

  /** All that are asked for; the sort shuffle first, the plugin last. */
  List<Side> all() {
    List<Side> sides = new ArrayList<>();
    sides.add(sort());
    if (!options.has(NO_TMPFS) && options.last(LOCAL_DIR).isEmpty()) {
      sides.add(
          new Side(
              "sort on tmpfs",
              spec("bench-sort-tmpfs", ShuffleMode.SORT)
                  .with("spark.local.dir", TMPFS_DIR.toString())));
    }
    sides.add(plugin());
    return sides;
  }

  /** The sort shuffle as users have it. */
  Side sort() {
    return new Side("sort", onLocalDir(spec("bench-sort", ShuffleMode.SORT)));
  }

  /** The plugin with the settings that are asked for. */
  Side plugin() {
    return new Side(
        "plugin",
        onLocalDir(spec("bench-plugin", ShuffleMode.PLUGIN)).with(options.settings("--conf")));
  }

  private ClusterSpec onLocalDir(ClusterSpec spec) {
    return options
        .last(LOCAL_DIR)
        .map(dir -> spec.with("spark.local.dir", Path.of(dir).resolve(spec.name()).toString()))
        .orElse(spec);
  }

  private static ClusterSpec spec(String name, ShuffleMode mode) {
    return ClusterSpec.forMeasuring(name, mode)
        .with("spark.serializer", "org.apache.spark.serializer.KryoSerializer");
  }

  /** Removes what applications left on the tmpfs. */
  static void cleanUp() throws IOException {
    if (!Files.exists(TMPFS_DIR)) {
      return;
    }
    try (Stream<Path> files = Files.walk(TMPFS_DIR)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    }
  }
}
