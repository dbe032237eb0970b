package io.rdmashuffle.spark;

import java.util.List;

/**
 * The lines of Spark that the plugin was built and tested with. Spark's inner classes change from
 * one line to the next, and a mismatch would otherwise show as a missing method in the middle of a
 * job.
 */
final class SparkVersion {
  private static final List<String> SUPPORTED = List.of("3.5", "4.0", "4.1", "4.2");

  private SparkVersion() {}

  /** Of the Spark that runs this, as Spark tells it. */
  static String current() {
    return org.apache.spark.package$.MODULE$.SPARK_VERSION();
  }

  /**
   * Checks the Spark that runs this.
   *
   * @throws IllegalArgumentException when it is another line
   */
  static void check() {
    check(current());
  }

  /**
   * @param version as Spark tells it, such as {@code 4.2.0} or a vendor's {@code 4.2.0-x.1}
   */
  static void check(String version) {
    if (SUPPORTED.stream().noneMatch(line -> isOfLine(version, line))) {
      throw new IllegalArgumentException(
          "this rdma-shuffle is for Spark "
              + String.join(", ", SUPPORTED)
              + ", found Spark "
              + version
              + ": use a plugin built for that version, or spark.shuffle.manager=sort");
    }
  }

  /**
   * Whether Spark creates the shuffle manager when user jars are already loaded, which 3.5 did not.
   *
   * @param version one that {@link #check} accepts
   */
  static boolean loadsManagerFromUserJars(String version) {
    return !isOfLine(version, "3.5");
  }

  private static boolean isOfLine(String version, String line) {
    return version.equals(line) || version.startsWith(line + ".");
  }
}
