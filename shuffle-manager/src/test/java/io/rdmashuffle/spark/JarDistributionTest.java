package io.rdmashuffle.spark;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;

class JarDistributionTest {
  private static final Path JAR = Path.of("/opt/plugins/rdma-shuffle.jar");

  private final SparkConf conf = new SparkConf(false).set("spark.master", "spark://host:7077");

  @Test
  void aJarThatNothingBringsToExecutorsIsRefusedWithTheRemedy() {
    conf.set("spark.jars", "/opt/jobs/job.jar");
    IllegalArgumentException refusal =
        assertThrows(
            IllegalArgumentException.class, () -> JarDistribution.check(conf, JAR, "/opt/spark"));
    assertTrue(refusal.getMessage().contains("--jars /opt/plugins/rdma-shuffle.jar"));
    assertTrue(refusal.getMessage().contains("spark.jars=/opt/jobs/job.jar"));
  }

  @Test
  void aJarAmongSparksJarsIsAccepted() {
    conf.set("spark.jars", "file:/opt/jobs/job.jar, file:/opt/plugins/rdma-shuffle.jar");
    assertDoesNotThrow(() -> JarDistribution.check(conf, JAR, null));
  }

  @Test
  void anotherJarWhoseNameEndsAlikeIsNotTakenForIt() {
    conf.set("spark.jars", "/opt/jobs/not-rdma-shuffle.jar");
    assertThrows(
        IllegalArgumentException.class, () -> JarDistribution.check(conf, JAR, "/opt/spark"));
  }

  @Test
  void anExtraClassPathOfExecutorsIsTheUsersWord() {
    conf.set("spark.executor.extraClassPath", "/elsewhere/*");
    assertDoesNotThrow(() -> JarDistribution.check(conf, JAR, null));
  }

  @Test
  void aJarInSparksOwnDirectoryNeedsNoSetting() {
    Path inSpark = Path.of("/opt/spark/jars/rdma-shuffle.jar");
    assertDoesNotThrow(() -> JarDistribution.check(conf, inSpark, "/opt/spark"));
  }

  @Test
  void otherClusterManagersAreLeftAlone() {
    conf.set("spark.master", "yarn");
    assertDoesNotThrow(() -> JarDistribution.check(conf));
  }
}
