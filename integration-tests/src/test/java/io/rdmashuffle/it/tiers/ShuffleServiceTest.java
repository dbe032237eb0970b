package io.rdmashuffle.it.tiers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.harness.ClusterSpec;
import io.rdmashuffle.harness.ExecutorGauges;
import io.rdmashuffle.harness.ExecutorProcess;
import io.rdmashuffle.harness.HarnessPaths;
import io.rdmashuffle.harness.Lineage;
import io.rdmashuffle.harness.LocalCluster;
import io.rdmashuffle.harness.PluginTotals;
import io.rdmashuffle.harness.Poll;
import io.rdmashuffle.harness.ShuffleMode;
import io.rdmashuffle.harness.SparkDaemon;
import io.rdmashuffle.it.ExpectedWarnings;
import io.rdmashuffle.it.Feature;
import io.rdmashuffle.it.PluginApp;
import io.rdmashuffle.jobs.ResultDigest;
import java.io.IOException;
import java.lang.ref.Reference;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerBlockManagerRemoved;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Outputs written behind are read one-sided while their executor lives, and as files after. */
@Tag("slow")
class ShuffleServiceTest {
  private static final int MAPS = 8;
  private static final int ROWS = 1000;

  @TempDir Path directory;
  private int port;
  private Process service;

  @BeforeEach
  void startService() throws IOException {
    try (ServerSocket free = new ServerSocket(0)) {
      port = free.getLocalPort();
    }
    service =
        SparkDaemon.start(
            directory.resolve("service.log"),
            "127.0.0.1",
            List.of(
                "-Dspark.shuffle.service.port=" + port,
                "-Dspark.shuffle.service.db.enabled=false",
                // Spark 4.2's serves nothing from elsewhere; without it, from java.io.tmpdir only.
                "-Dspark.local.dir=" + HarnessPaths.workDir()),
            List.of("org.apache.spark.deploy.ExternalShuffleService"));
    Poll.until("the service does not start", 60, TimeUnit.SECONDS, this::isServing);
  }

  private boolean isServing() {
    try (Socket connected = new Socket(InetAddress.getLoopbackAddress(), port)) {
      return connected.isConnected();
    } catch (IOException e) {
      return false;
    }
  }

  @AfterEach
  void stopService() throws InterruptedException {
    assertTrue(service.destroyForcibly().waitFor(30, TimeUnit.SECONDS));
  }

  private LocalCluster start(String name, Map<String, String> more) {
    return start(name, ShuffleMode.PLUGIN, more);
  }

  private LocalCluster start(String name, ShuffleMode mode, Map<String, String> more) {
    return LocalCluster.start(
        ClusterSpec.forTests(name, mode)
            .with("spark.shuffle.service.enabled", "true")
            .with("spark.shuffle.service.port", Integer.toString(port))
            .with(more));
  }

  @Test
  @ExpectedWarnings(ExpectedWarnings.LOST_EXECUTOR)
  void filesWrittenBehindServeWhenTheirExecutorsAreGone() throws Exception {
    try (LocalCluster cluster = start("tiers-service", Map.of())) {
      ResultDigest expected = PluginApp.expected(cluster, MAPS, ROWS);
      JavaPairRDD<Integer, byte[]> moved = PluginApp.moved(cluster, MAPS, MAPS, ROWS);
      assertEquals(expected, PluginApp.digest(moved));
      PluginTotals alive = cluster.totals();
      assertTrue(alive.bytes("shm") > 0, () -> PluginApp.summary(alive));
      long written = cluster.metrics().writtenBytes();
      TimeUnit.SECONDS.sleep(2); // 8 MB are on disk by then

      for (ExecutorProcess executor : cluster.executors()) {
        executor.kill();
      }
      assertEquals(expected, PluginApp.digest(moved));
      assertEquals(written, cluster.metrics().writtenBytes(), "no map task ran again");
      PluginTotals gone = cluster.totals().since(alive);
      assertTrue(gone.bytes("tcp") > 0, () -> PluginApp.summary(gone));
    }
  }

  @Test
  @Feature("spark.shuffle.service.removeShuffle")
  @ExpectedWarnings(ExpectedWarnings.LOST_EXECUTOR)
  void ofAShuffleThatIsOverNoMoreIsLeftThanOfTheSortShuffle() throws Exception {
    Map<String, String> settings = new HashMap<>(LocalFiles.SETTINGS);
    settings.put("spark.shuffle.service.removeShuffle", "true");
    Set<String> leftBySort;
    try (LocalCluster cluster = start("tiers-remove-sort", ShuffleMode.SORT, settings)) {
      leftBySort = kindsOfFilesLeft(cluster);
    }
    try (LocalCluster cluster = start("tiers-remove", settings)) {
      assertEquals(leftBySort, kindsOfFilesLeft(cluster));
      ExecutorGauges.awaitNothingLent(cluster);
      for (Map<String, Long> gauges : ExecutorGauges.of(cluster).values()) {
        assertEquals(0, gauges.get("memoryOutputs") + gauges.get("fileOutputs"), gauges::toString);
      }
    }
    // Spark itself has the service remove nothing else.
    assertEquals(Set.of(".checksum.ADLER32"), leftBySort);
  }

  /** Of a shuffle that is unregistered when one of the two executors that wrote it is gone. */
  private static Set<String> kindsOfFilesLeft(LocalCluster cluster) throws Exception {
    CountDownLatch gone = new CountDownLatch(1);
    cluster
        .context()
        .addSparkListener(
            new SparkListener() {
              @Override
              public void onBlockManagerRemoved(SparkListenerBlockManagerRemoved removed) {
                gone.countDown();
              }
            });
    JavaPairRDD<Integer, byte[]> moved = PluginApp.moved(cluster, MAPS, MAPS, ROWS);
    try (LocalFiles files = new LocalFiles(cluster)) {
      assertEquals(PluginApp.expected(cluster, MAPS, ROWS), PluginApp.digest(moved));
      int shuffleId = Lineage.shuffleOf(moved.rdd());
      String prefix = "shuffle_" + shuffleId + "_";
      Poll.until(
          "map outputs of both executors are not in files",
          60,
          TimeUnit.SECONDS,
          () -> areAllThere(files.names(prefix)));
      cluster.executors().get(0).kill();
      assertTrue(gone.await(60, TimeUnit.SECONDS), "Spark does not notice that the executor died");
      cluster.context().cleaner().get().doCleanupShuffle(shuffleId, true);
      return files.names(prefix).stream()
          .flatMap(List::stream)
          .map(name -> name.substring(name.indexOf('.')))
          .collect(Collectors.toSet());
    } finally {
      Reference.reachabilityFence(moved); // else Spark might clean up first
    }
  }

  private static boolean areAllThere(List<List<String>> names) {
    long indices =
        names.stream().flatMap(List::stream).filter(name -> name.endsWith(".index")).count();
    return indices == MAPS && names.stream().noneMatch(List::isEmpty);
  }

  @Test
  @ExpectedWarnings("durability=memory although spark.shuffle.service.enabled=true")
  void whatTheServiceDoesNotHaveIsReadFromItsExecutor() throws Exception {
    // Nothing is ever written behind, and TCP is the only way: the service has no block at all.
    Map<String, String> settings =
        Map.of("spark.shuffle.rdma.durability", "memory", "spark.shuffle.rdma.transports", "tcp");
    try (LocalCluster cluster = start("tiers-owner", settings)) {
      assertEquals(
          PluginApp.expected(cluster, MAPS, ROWS),
          PluginApp.digest(PluginApp.moved(cluster, MAPS, MAPS, ROWS)));
      assertTrue(cluster.totals().bytes("tcp") > 0);
      assertEquals(cluster.metrics().remoteBytes(), cluster.totals().allBytes());
      assertEquals(0, cluster.metrics().failedTasks());
    }
  }
}
