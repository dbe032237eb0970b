package io.rdmashuffle.spark;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.Arrays;
import java.util.zip.ZipFile;
import org.apache.spark.SparkConf;

/**
 * Whether executors will find the plugin's jar. Without it they die one after the other with a
 * {@code ClassNotFoundException} in their own logs, while the driver waits for them.
 */
final class JarDistribution {
  private static final String PLUGIN_CLASS = "io/rdmashuffle/RdmaShuffleManager.class";
  private static final String JARS = "spark.jars";
  private static final String EXECUTOR_CLASS_PATH = "spark.executor.extraClassPath";

  private JarDistribution() {}

  /**
   * Checks, on the driver, that a setting brings the jar to the executors. Only where Spark's own
   * standalone workers start them: YARN and Kubernetes have more ways than can be seen from here.
   *
   * @throws IllegalArgumentException when nothing does
   */
  static void check(SparkConf conf) {
    String master = conf.get("spark.master", "");
    if (!master.startsWith("spark://") && !master.startsWith("local-cluster")) {
      return;
    }
    check(conf, SparkVersion.current(), ownLocation(), System.getenv("SPARK_HOME"));
  }

  /**
   * Looks into the jars that the driver can see; of those it cannot see, one may hold the plugin.
   * Spark 3.5 creates the shuffle manager of an executor before it fetches such jars, so they are
   * of no use there.
   *
   * @param version of Spark
   * @param own where the plugin was loaded from here, null when unknown
   * @param sparkHome null when unknown
   */
  static void check(SparkConf conf, String version, Path own, String sparkHome) {
    boolean isInSparkHome =
        own != null && sparkHome != null && own.startsWith(Path.of(sparkHome).toAbsolutePath());
    if (isInSparkHome || !conf.get(EXECUTOR_CLASS_PATH, "").isBlank()) {
      return;
    }
    String jars = conf.get(JARS, "");
    if (!SparkVersion.loadsManagerFromUserJars(version)) {
      throw new IllegalArgumentException(
          "executors would not find the plugin: Spark "
              + version
              + " creates the shuffle manager before it fetches "
              + JARS
              + "; expected a path to the plugin's jar, there on every host, in "
              + EXECUTOR_CLASS_PATH
              + ", or the jar in Spark's own jars directory, found neither");
    }
    if (Arrays.stream(jars.split(",", -1)).noneMatch(JarDistribution::mayHoldPlugin)) {
      throw new IllegalArgumentException(
          "executors would not find the plugin: expected a jar with "
              + PLUGIN_CLASS
              + " in "
              + JARS
              + " (spark-submit --jars) or a path to it in "
              + EXECUTOR_CLASS_PATH
              + ", found "
              + JARS
              + "="
              + jars);
    }
  }

  private static boolean mayHoldPlugin(String jar) {
    String trimmed = jar.trim();
    if (trimmed.isEmpty()) {
      return false;
    }
    String path = trimmed.startsWith("file:") ? trimmed.substring("file:".length()) : trimmed;
    if (path.contains(":")) {
      return true; // on another machine, or on the executors
    }
    try (ZipFile zip = new ZipFile(path)) {
      return zip.getEntry(PLUGIN_CLASS) != null;
    } catch (IOException e) {
      return false; // Spark says itself what is wrong with it
    }
  }

  private static Path ownLocation() {
    CodeSource source = JarDistribution.class.getProtectionDomain().getCodeSource();
    try {
      return source == null ? null : Path.of(source.getLocation().toURI()).toAbsolutePath();
    } catch (URISyntaxException | IllegalArgumentException e) {
      return null; // not a file: nothing can be said
    }
  }
}
