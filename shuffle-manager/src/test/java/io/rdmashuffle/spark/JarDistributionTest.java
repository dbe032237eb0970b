package io.rdmashuffle.spark;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JarDistributionTest {
  private static final Path OWN = Path.of("/opt/plugins/rdma-shuffle.jar");
  private static final String NEWEST = "4.2.0";
  private static final String PLUGIN = "io/rdmashuffle/RdmaShuffleManager.class";

  @TempDir Path directory;

  private final SparkConf conf = new SparkConf(false).set("spark.master", "spark://host:7077");

  @Test
  void aJarThatNothingBringsToExecutorsIsRefusedWithTheRemedy() throws IOException {
    Path job = jar("job.jar", "org/example/Job.class");
    conf.set("spark.jars", job + ",/no/such.jar");
    IllegalArgumentException refusal =
        assertThrows(IllegalArgumentException.class, () -> check(NEWEST));
    assertTrue(refusal.getMessage().contains("--jars"), refusal.getMessage());
    assertTrue(refusal.getMessage().contains("spark.jars=" + job), refusal.getMessage());
  }

  @Test
  void aJarThatHoldsThePluginIsAcceptedWhateverItsName() throws IOException {
    Path other = jar("other.jar", "org/example/Job.class");
    conf.set("spark.jars", other + ", file:" + jar("all-in-one.jar", PLUGIN));
    assertDoesNotThrow(() -> check(NEWEST));
  }

  @Test
  void jarsThatTheDriverCannotSeeMayHoldIt() {
    conf.set("spark.jars", "hdfs://nameserver/jars/rdma-shuffle.jar");
    assertDoesNotThrow(() -> check(NEWEST));
    conf.set("spark.jars", "local:/opt/on-every-host.jar");
    assertDoesNotThrow(() -> check(NEWEST));
  }

  @Test
  void jarsThatArriveAfterTheManagerIsCreatedAreRefusedWithTheRemedy() throws IOException {
    conf.set("spark.jars", jar("rdma-shuffle.jar", PLUGIN).toString());
    assertDoesNotThrow(() -> check("4.0.4"));
    IllegalArgumentException refusal =
        assertThrows(IllegalArgumentException.class, () -> check("3.5.9"));
    assertTrue(refusal.getMessage().contains("Spark 3.5.9"), refusal.getMessage());
    assertTrue(
        refusal.getMessage().contains("spark.executor.extraClassPath"), refusal.getMessage());
  }

  @ParameterizedTest
  @ValueSource(strings = {"3.5.9", "4.0.4", "4.1.3", "4.2.0"})
  void anExtraClassPathOfExecutorsIsTheUsersWord(String version) {
    conf.set("spark.executor.extraClassPath", "/elsewhere/*");
    assertDoesNotThrow(() -> check(version));
  }

  @ParameterizedTest
  @ValueSource(strings = {"3.5.9", "4.0.4", "4.1.3", "4.2.0"})
  void aJarInSparksOwnDirectoryNeedsNoSetting(String version) {
    Path inSpark = Path.of("/opt/spark/jars/rdma-shuffle.jar");
    assertDoesNotThrow(() -> JarDistribution.check(conf, version, inSpark, "/opt/spark"));
  }

  @Test
  void otherClusterManagersAreLeftAlone() {
    conf.set("spark.master", "yarn");
    assertDoesNotThrow(() -> JarDistribution.check(conf));
  }

  private void check(String version) {
    JarDistribution.check(conf, version, OWN, "/opt/spark");
  }

  private Path jar(String name, String entry) throws IOException {
    Path jar = directory.resolve(name);
    try (ZipOutputStream out = new ZipOutputStream(Files.newOutputStream(jar))) {
      out.putNextEntry(new ZipEntry(entry));
      out.closeEntry();
    }
    return jar;
  }
}
