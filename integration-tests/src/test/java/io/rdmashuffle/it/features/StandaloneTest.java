package io.rdmashuffle.it.features;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rdmashuffle.harness.ClusterSpec;
import io.rdmashuffle.harness.HarnessPaths;
import io.rdmashuffle.harness.LocalCluster;
import io.rdmashuffle.harness.PluginTotals;
import io.rdmashuffle.harness.ShuffleMode;
import io.rdmashuffle.harness.SparkLine;
import io.rdmashuffle.it.ExpectedWarnings;
import io.rdmashuffle.it.Feature;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.spark.HashPartitioner;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaPairRDD;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import scala.Tuple2;

/** A standalone cluster of two hosts, as Spark sees them. */
@Tag("slow")
@ExpectedWarnings(ExpectedWarnings.LOST_EXECUTOR)
class StandaloneTest {
  private static final int MAPS = 6;

  @TempDir private static Path directory;
  private static StandaloneCluster hosts;

  @BeforeAll
  static void start() {
    hosts = StandaloneCluster.ofTwoHosts(directory);
  }

  @AfterAll
  static void stop() {
    if (hosts != null) {
      hosts.close();
    }
  }

  @Test
  @Feature("Standalone: the jar in --jars")
  void executorsDownloadTheJarFromTheDriver() {
    assumeTrue(
        SparkLine.current().loadsManagerFromUserJars(),
        "Spark before 4.0 creates the shuffle manager before it fetches jars");
    try (LocalCluster cluster =
        hosts.application(ClusterSpec.forTests("standalone-jars", ShuffleMode.PLUGIN), Map.of())) {
      assertRightAndOneSided(cluster);
    }
  }

  @Test
  @Feature({"Standalone: the jar in extraClassPath", "Recovery: speculative execution"})
  void theJarOnEveryHostServesSpeculativeTasksToo() {
    String jars =
        Stream.concat(Stream.of(HarnessPaths.pluginJar()), HarnessPaths.userJars().stream())
            .map(Path::toString)
            .collect(Collectors.joining(":"));
    Map<String, String> settings =
        Map.of(
            "spark.shuffle.manager", LocalCluster.PLUGIN_CLASS,
            "spark.executor.extraClassPath", jars,
            "spark.jars", "",
            "spark.speculation", "true",
            "spark.speculation.interval", "100ms",
            "spark.speculation.minTaskRuntime", "300ms",
            "spark.speculation.quantile", "0.5");
    try (LocalCluster cluster =
        hosts.application(ClusterSpec.forTests("standalone-path", ShuffleMode.SORT), settings)) {
      assertRightAndOneSided(cluster);
      assertTaskThatRunsTwiceCountsOnce(cluster);
    }
  }

  private static void assertRightAndOneSided(LocalCluster cluster) {
    RemoteReads.assertRight(cluster);
    PluginTotals totals = cluster.totals();
    assertEquals(cluster.metrics().remoteBytes(), totals.oneSidedBytes(), totals::toString);
    assertTrue(totals.bytes("shm") > 0, totals::toString);
  }

  /** Spark starts a copy of a slow task on another host only. */
  private static void assertTaskThatRunsTwiceCountsOnce(LocalCluster cluster) {
    JavaPairRDD<Integer, Integer> moved =
        cluster
            .java()
            .parallelize(List.of(0, 1, 2, 3, 4, 5), MAPS)
            .mapToPair(
                i -> {
                  TaskContext task = TaskContext.get();
                  if (task.partitionId() == 0 && task.attemptNumber() == 0) {
                    TaskPause.heedless(4_000);
                  }
                  return new Tuple2<>(i, i);
                })
            .partitionBy(new HashPartitioner(3));
    Map<Integer, Integer> expected = new HashMap<>();
    for (int i = 0; i < MAPS; i++) {
      expected.put(i, i);
    }
    try (TaskEvents events = TaskEvents.attach(cluster)) {
      assertEquals(expected, new HashMap<>(moved.collectAsMap()));
      // The first attempt goes on while the other one's output is read.
      assertEquals(MAPS, moved.count());
      TimeUnit.SECONDS.sleep(4);
      assertEquals(MAPS, moved.count());
      assertTrue(events.settle().speculated() > 0, "no task was speculated");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
  }
}
