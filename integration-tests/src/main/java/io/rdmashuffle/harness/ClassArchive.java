package io.rdmashuffle.harness;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.spark.sql.SparkSession;

/**
 * Makes the class-data archive that lets executors of tests start faster: runs a small job, has an
 * executor list the classes it loaded, and dumps them.
 */
public final class ClassArchive {
  private static final long DUMP_SECONDS = 180;

  private ClassArchive() {}

  /** Replaces the archive under SPARK_HOME. */
  public static void main(String[] args) throws IOException, InterruptedException {
    Path home = HarnessPaths.sparkHome();
    Path classList = home.resolve("executor.classlist");
    String classPath = listClasses(classList);
    dump(home, classPath, classList, FastStart.archive(home));
    // Spark's local-cluster leaves threads behind that would keep this JVM for a while.
    System.exit(0);
  }

  /** Gives the executor's class path: the JVM takes an archive only with the very same one. */
  private static String listClasses(Path classList) {
    ClusterSpec spec =
        ClusterSpec.forTests("class-archive", ShuffleMode.SORT)
            .sized(1, 1, 1024)
            .with(
                "spark.executor.extraJavaOptions",
                FastStart.COMPILER + " -XX:DumpLoadedClassList=" + classList);
    try (LocalCluster cluster = LocalCluster.start(spec)) {
      SparkSession spark = cluster.spark();
      spark.range(0, 1000, 1, 2).selectExpr("id % 7 AS k", "id").createOrReplaceTempView("t");
      spark.sql("SELECT k, sum(id) FROM t GROUP BY k ORDER BY k").collectAsList();
      cluster.java().parallelize(List.of(3, 1, 2), 2).sortBy(i -> i, true, 2).collect();
      return cluster
          .java()
          .parallelize(List.of("java.class.path"), 1)
          .map(name -> System.getProperty(name))
          .first();
    }
  }

  private static void dump(Path home, String classPath, Path classList, Path archive)
      throws IOException, InterruptedException {
    Process java =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xshare:dump",
                "-XX:+UseSerialGC",
                "-XX:SharedClassListFile=" + classList,
                "-XX:SharedArchiveFile=" + archive,
                "-cp",
                classPath)
            .redirectErrorStream(true)
            .redirectOutput(home.resolve("executor.jsa.log").toFile())
            .start();
    if (!java.waitFor(DUMP_SECONDS, TimeUnit.SECONDS) || java.exitValue() != 0) {
      java.destroyForcibly();
      String log = Files.readString(home.resolve("executor.jsa.log"), StandardCharsets.UTF_8);
      throw new IllegalStateException("the JVM could not write " + archive + ":\n" + log);
    }
  }
}
