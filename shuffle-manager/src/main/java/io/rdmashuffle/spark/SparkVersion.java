package io.rdmashuffle.spark;

/**
 * The Spark line that the plugin was built and tested with. Its inner classes change from one line
 * to the next, and a mismatch would otherwise show as a missing method in the middle of a job.
 */
final class SparkVersion {
  private static final String SUPPORTED = "4.2";

  private SparkVersion() {}

  /**
   * Checks the Spark that runs this.
   *
   * @throws IllegalArgumentException when it is another line
   */
  static void check() {
    check(org.apache.spark.package$.MODULE$.SPARK_VERSION());
  }

  /**
   * @param version as Spark tells it, such as {@code 4.2.0} or a vendor's {@code 4.2.0-x.1}
   */
  static void check(String version) {
    if (!version.equals(SUPPORTED) && !version.startsWith(SUPPORTED + ".")) {
      throw new IllegalArgumentException(
          "this rdma-shuffle is for Spark "
              + SUPPORTED
              + ", found Spark "
              + version
              + ": use the plugin built for that version, or spark.shuffle.manager=sort");
    }
  }
}
