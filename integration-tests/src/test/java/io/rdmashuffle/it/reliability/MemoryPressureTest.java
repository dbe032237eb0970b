package io.rdmashuffle.it.reliability;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rdmashuffle.harness.Command;
import io.rdmashuffle.harness.ExecutorLauncher;
import io.rdmashuffle.harness.ExecutorProcess;
import io.rdmashuffle.harness.LocalCluster;
import io.rdmashuffle.harness.PluginTotals;
import io.rdmashuffle.it.ExpectedWarnings;
import io.rdmashuffle.it.PluginApp;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Memory runs short, on every side there is: jobs spill, wait or read over TCP, and no task fails.
 */
@Tag("slow")
class MemoryPressureTest {
  private static final int TASKS = 8;
  private static final int ROWS = 6_000;
  private static final String KILLS = "oom_kill ";
  private static final long CONTAINER_BYTES = 1_000L << 20;
  private static final int CONTAINER_JOBS = 3;

  @Test
  void aShortHeapAndTaskMemoryMeanSpills() {
    Map<String, String> settings = new TreeMap<>();
    settings.put("spark.executor.memory", "512m");
    settings.put("spark.memory.fraction", "0.02");
    try (LocalCluster cluster = PluginApp.start("pressure-heap", settings)) {
      runAndCheck(cluster);
      assertTrue(cluster.metrics().spilledToDisk() > 0, "nothing was spilled");
    }
  }

  @Test
  @ExpectedWarnings("go by TCP: NO_RECEIVE_BUFFER ")
  void aShortReceivePoolMeansWaitingOrTcp() {
    Map<String, String> settings = new TreeMap<>();
    settings.put("spark.shuffle.rdma.memory.slabSize", "1m");
    settings.put("spark.shuffle.rdma.memory.receiveSize", "1m");
    settings.put("spark.shuffle.rdma.read.timeout", "500ms");
    try (LocalCluster cluster = PluginApp.start("pressure-receive", settings)) {
      runAndCheck(cluster);
    }
  }

  @Test
  @ExpectedWarnings({
    ExpectedWarnings.BUDGET_SPENT,
    "Pool .* cannot have a slab of .* and makes do with ",
    "go by TCP: NO_RECEIVE_BUFFER "
  })
  void aFullTmpfsMeansFiles(@TempDir Path dir) {
    Path tmpfs = dir.resolve("tmpfs");
    mountOrSkip(tmpfs, "40m");
    try {
      // Enough for either executor, not for both.
      Map<String, String> settings = new TreeMap<>();
      settings.put("spark.shuffle.rdma.memory.dir", tmpfs.toString());
      settings.put("spark.shuffle.rdma.memory.slabSize", "4m");
      settings.put("spark.shuffle.rdma.memory.size", "24m");
      settings.put("spark.shuffle.rdma.memory.receiveSize", "4m");
      try (LocalCluster cluster = PluginApp.start("pressure-tmpfs", settings)) {
        runAndCheck(cluster);
      }
    } finally {
      Command.run("umount", tmpfs.toString());
    }
  }

  private static void mountOrSkip(Path tmpfs, String size) {
    boolean isMounted;
    try {
      Files.createDirectories(tmpfs);
      Command.run("mount", "-t", "tmpfs", "-o", "size=" + size, "pressure", tmpfs.toString());
      isMounted = true;
    } catch (IllegalStateException | IOException e) {
      isMounted = false;
    }
    assumeTrue(isMounted, "this user may not mount a tmpfs of its own");
  }

  @Test
  @ExpectedWarnings(ExpectedWarnings.BUDGET_SPENT)
  void executorsStayWithinTheirContainers(@TempDir Path dir) throws IOException {
    Path containers = containersOrSkip();
    try {
      Map<String, String> settings =
          new TreeMap<>(
              new ExecutorLauncher()
                  .withDefaultContainer(containers, CONTAINER_BYTES)
                  .install(dir));
      settings.put("spark.executor.memory", "512m");
      try (LocalCluster cluster = PluginApp.start("pressure-container", settings)) {
        List<ExecutorProcess> before = cluster.executors();
        for (ExecutorProcess executor : before) {
          assertTrue(Files.exists(group(containers, executor)), () -> executor + " runs outside");
        }
        for (int job = 0; job < CONTAINER_JOBS; job++) {
          runAndCheck(cluster);
        }
        assertEquals(before, cluster.executors(), "an executor was replaced");
        for (ExecutorProcess executor : before) {
          assertEquals(0, kills(group(containers, executor)), "killed for want of memory");
        }
      }
    } finally {
      remove(containers);
    }
  }

  private static Path group(Path containers, ExecutorProcess executor) {
    return containers.resolve(Long.toString(executor.pid()));
  }

  private static Path containersOrSkip() {
    Path parent = Path.of("/sys/fs/cgroup/memory/rdma-shuffle-pressure");
    boolean isMade;
    try {
      Files.createDirectory(parent);
      isMade = Files.exists(parent.resolve("memory.limit_in_bytes"));
    } catch (IOException e) {
      isMade = false;
    }
    assumeTrue(isMade, "this user may not make memory control groups (version 1) here");
    return parent;
  }

  /** A control group is removed as an empty directory, whatever it seems to contain. */
  private static void remove(Path containers) throws IOException {
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(containers, Files::isDirectory)) {
      for (Path container : entries) {
        Files.delete(container);
      }
    }
    Files.delete(containers);
  }

  private static long kills(Path group) throws IOException {
    return Files.readAllLines(group.resolve("memory.oom_control")).stream()
        .filter(line -> line.startsWith(KILLS))
        .mapToLong(line -> Long.parseLong(line.substring(KILLS.length())))
        .sum();
  }

  private static void runAndCheck(LocalCluster cluster) {
    assertEquals(
        PluginApp.expected(cluster, TASKS, ROWS),
        PluginApp.digest(PluginApp.moved(cluster, TASKS, TASKS, ROWS)));
    PluginTotals totals = cluster.totals();
    System.out.println(PluginApp.summary(totals));
    assertEquals(cluster.metrics().remoteBytes(), totals.allBytes());
    assertEquals(0, cluster.metrics().failedTasks());
  }
}
