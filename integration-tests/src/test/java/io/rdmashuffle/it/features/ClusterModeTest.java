package io.rdmashuffle.it.features;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.rdmashuffle.harness.HarnessPaths;
import io.rdmashuffle.harness.LocalCluster;
import io.rdmashuffle.it.Feature;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.apache.spark.launcher.JavaModuleOptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An application whose driver runs on a host of the cluster, chosen by the cluster. */
@Tag("slow")
class ClusterModeTest {
  @TempDir private static Path directory;

  @Test
  @Feature("Standalone: cluster deploy mode")
  void theDriverRunsInTheClusterAndTasksReadOneSided() throws IOException {
    Path result = directory.resolve("result");
    Map<String, String> settings =
        Map.of(
            "spark.shuffle.manager",
            LocalCluster.PLUGIN_CLASS,
            "spark.driver.extraClassPath",
            HarnessPaths.pluginJar().toString(),
            "spark.executor.extraClassPath",
            HarnessPaths.pluginJar().toString(),
            // Spark 3.5 forgets them for a driver in the cluster, which then does not start.
            "spark.driver.extraJavaOptions",
            JavaModuleOptions.defaultModuleOptions(),
            "spark.driver.memory",
            "512m",
            "spark.executor.memory",
            "512m",
            "spark.executor.cores",
            "1");
    try (StandaloneCluster cluster = StandaloneCluster.withRoomForDriver(directory)) {
      cluster.submit(ClusterModeApp.class, settings, result.toString());
      Decommission.await(
          "the application has no result, see " + directory, () -> Files.exists(result));
      assertEquals(ClusterModeApp.report(ClusterModeApp.KEYS, true, 0), Files.readString(result));
    }
  }
}
