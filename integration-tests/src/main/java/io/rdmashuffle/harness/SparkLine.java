package io.rdmashuffle.harness;

/**
 * The line of Spark that runs the tests, of which the harness must know where they differ for
 * users.
 *
 * @param major 4 of 4.2.0
 * @param minor 2 of 4.2.0
 */
public record SparkLine(int major, int minor) {
  /** Of the Spark on this JVM's class path. */
  public static SparkLine current() {
    return parse(org.apache.spark.package$.MODULE$.SPARK_VERSION());
  }

  /** Of a version such as {@code 4.2.0}. */
  static SparkLine parse(String version) {
    String[] parts = version.split("\\.", 3);
    return new SparkLine(Integer.parseInt(parts[0]), Integer.parseInt(parts[1]));
  }

  /** Whether it is this line or a later one. */
  public boolean isAtLeast(int otherMajor, int otherMinor) {
    return major > otherMajor || (major == otherMajor && minor >= otherMinor);
  }

  /** Whether executors have fetched {@code spark.jars} when they create the shuffle manager. */
  public boolean loadsManagerFromUserJars() {
    return isAtLeast(4, 0);
  }

  @Override
  public String toString() {
    return major + "." + minor;
  }
}
