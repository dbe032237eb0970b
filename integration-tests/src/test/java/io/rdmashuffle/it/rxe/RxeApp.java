package io.rdmashuffle.it.rxe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.harness.ClusterSpec;
import io.rdmashuffle.harness.LocalCluster;
import io.rdmashuffle.harness.ProcessCounts;
import io.rdmashuffle.harness.ShuffleMode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** Applications of the RDMA tests: small pools, RDMA or TCP and nothing else. */
final class RxeApp {
  /** Size of slabs in these applications. */
  static final long SLAB_BYTES = 4 << 20;

  private static final long END_SECONDS = 30;

  private RxeApp() {}

  static LocalCluster start(String name, int executors, Map<String, String> more) {
    Map<String, String> settings = new LinkedHashMap<>();
    settings.put("spark.shuffle.rdma.transports", "rdma");
    settings.put("spark.shuffle.rdma.memory.size", "64m");
    settings.put("spark.shuffle.rdma.memory.slabSize", SLAB_BYTES + "b");
    settings.put("spark.shuffle.rdma.memory.receiveSize", "32m");
    settings.put("spark.sql.shuffle.partitions", "4");
    // Emulated, everything takes ten times as long as elsewhere.
    settings.put("spark.shuffle.rdma.connect.timeout", "60s");
    settings.put("spark.network.timeout", "300s");
    settings.putAll(more);
    return LocalCluster.start(
        ClusterSpec.forTests(name, ShuffleMode.PLUGIN).sized(executors, 1, 512).with(settings));
  }

  /** What an executor logged so far. */
  static String log(LocalCluster cluster, int executor) {
    return log(cluster.executorLogs(), executor);
  }

  /** The same for an application that may be gone. */
  static String log(Path executorLogs, int executor) {
    try {
      return Files.readString(executorLogs.resolve(executor + "/stderr"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Stops an application and waits for its end: no process, no device object, nothing here. */
  static void stopAndFindNothingLeft(LocalCluster cluster) {
    assertTrue(!cluster.executors().isEmpty(), "no executor to stop");
    cluster.close();
    await("device objects are left", () -> Rxe.heldByProcesses().isEmpty());
    await("the driver holds something", () -> here().none());
    assertEquals(List.of(), ProcessCounts.slabFilesIn(Path.of("/dev/shm")));
  }

  private static ProcessCounts here() {
    return ProcessCounts.of(ProcessHandle.current().pid());
  }

  private static void await(String complaint, BooleanSupplier condition) {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(END_SECONDS);
    while (!condition.getAsBoolean()) {
      assertTrue(
          System.nanoTime() < deadline,
          () -> complaint + ": " + Rxe.heldByProcesses() + ", here: " + here());
      try {
        TimeUnit.MILLISECONDS.sleep(200);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new AssertionError(e);
      }
    }
  }
}
