package io.rdmashuffle.it.features;

import io.rdmashuffle.harness.ClusterSpec;
import io.rdmashuffle.harness.LocalCluster;
import io.rdmashuffle.harness.ShuffleMode;
import java.util.Map;
import java.util.function.Function;

/** What Spark's sort shuffle gives, to compare with. */
final class Reference {
  private static final String LOCAL = "local[2]";

  private Reference() {}

  /**
   * On the sort shuffle within this JVM, which starts at once: for whatever does not depend on
   * where tasks run.
   */
  static <T> T inLocalMode(Map<String, String> settings, Function<LocalCluster, T> work) {
    ClusterSpec spec =
        ClusterSpec.forTests("reference-local", ShuffleMode.SORT)
            .sized(0, 2, 1024)
            .with("spark.master", LOCAL)
            .with(settings);
    return on(spec, work);
  }

  /** On the sort shuffle with two executors, as the plugin has them. */
  static <T> T onCluster(Map<String, String> settings, Function<LocalCluster, T> work) {
    return on(ClusterSpec.forTests("reference-cluster", ShuffleMode.SORT).with(settings), work);
  }

  private static <T> T on(ClusterSpec spec, Function<LocalCluster, T> work) {
    try (LocalCluster cluster = LocalCluster.start(spec)) {
      return work.apply(cluster);
    }
  }
}
