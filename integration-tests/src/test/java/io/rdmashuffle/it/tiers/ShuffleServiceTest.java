package io.rdmashuffle.it.tiers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.harness.ExecutorProcess;
import io.rdmashuffle.harness.LocalCluster;
import io.rdmashuffle.harness.PluginTotals;
import io.rdmashuffle.it.ExpectedWarnings;
import io.rdmashuffle.it.PluginApp;
import io.rdmashuffle.jobs.ResultDigest;
import java.io.IOException;
import java.net.ServerSocket;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SecurityManager;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.deploy.ExternalShuffleService;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import scala.Option;

/** Outputs written behind are read one-sided while their executor lives, and as files after. */
@Tag("slow")
class ShuffleServiceTest {
  private static final int MAPS = 8;
  private static final int ROWS = 1000;

  private int port;
  private ExternalShuffleService service;

  @BeforeEach
  void startService() throws IOException {
    try (ServerSocket free = new ServerSocket(0)) {
      port = free.getLocalPort();
    }
    SparkConf conf =
        new SparkConf(false)
            .set("spark.shuffle.service.enabled", "true")
            .set("spark.shuffle.service.db.enabled", "false")
            .set("spark.shuffle.service.port", Integer.toString(port));
    service = new ExternalShuffleService(conf, new SecurityManager(conf, Option.empty(), null));
    service.start();
  }

  @AfterEach
  void stopService() {
    service.stop();
  }

  private LocalCluster start(String name, Map<String, String> more) {
    Map<String, String> settings = new HashMap<>();
    settings.put("spark.shuffle.service.enabled", "true");
    settings.put("spark.shuffle.service.port", Integer.toString(port));
    settings.putAll(more);
    return PluginApp.start(name, settings);
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
