package io.rdmashuffle.spark;

import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.Arrays;
import org.apache.spark.SparkConf;

/**
 * Whether executors will find the plugin's jar. Without it they die one after the other with a
 * {@code ClassNotFoundException} in their own logs, while the driver waits for them.
 */
final class JarDistribution {
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
    check(conf, ownLocation(), System.getenv("SPARK_HOME"));
  }

  /**
   * @param own where the plugin was loaded from here, null when unknown
   * @param sparkHome null when unknown
   */
  static void check(SparkConf conf, Path own, String sparkHome) {
    boolean isInSparkHome =
        own != null && sparkHome != null && own.startsWith(Path.of(sparkHome).toAbsolutePath());
    if (own == null
        || isInSparkHome
        || !conf.get(EXECUTOR_CLASS_PATH, "").isBlank()
        || namesJar(conf.get(JARS, ""), own.getFileName().toString())) {
      return;
    }
    throw new IllegalArgumentException(
        "executors would not find the plugin: expected "
            + own.getFileName()
            + " in "
            + JARS
            + " (spark-submit --jars "
            + own
            + ") or a path to it in "
            + EXECUTOR_CLASS_PATH
            + ", found "
            + JARS
            + "="
            + conf.get(JARS, ""));
  }

  private static boolean namesJar(String jars, String fileName) {
    return Arrays.stream(jars.split(",", -1))
        .map(String::trim)
        .anyMatch(jar -> jar.endsWith("/" + fileName) || jar.equals(fileName));
  }

  private static Path ownLocation() {
    CodeSource source = JarDistribution.class.getProtectionDomain().getCodeSource();
    try {
      return source == null ? null : Path.of(toUri(source)).toAbsolutePath();
    } catch (URISyntaxException | IllegalArgumentException e) {
      return null; // not a file: nothing can be said
    }
  }

  private static URI toUri(CodeSource source) throws URISyntaxException {
    return source.getLocation().toURI();
  }
}
