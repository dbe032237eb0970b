package io.rdmashuffle.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.harness.ClusterSpec;
import io.rdmashuffle.harness.HarnessPaths;
import io.rdmashuffle.harness.JobReport;
import io.rdmashuffle.harness.LocalCluster;
import io.rdmashuffle.harness.PluginTotals;
import io.rdmashuffle.harness.RemoteApp;
import io.rdmashuffle.harness.ShuffleMode;
import io.rdmashuffle.jobs.JobInput;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Settings and surroundings that are wrong: a clear message, and nothing lost. */
@Tag("slow")
class BadInputTest {
  // Without slabs that can be shared, and without an RDMA device.
  private static final String NO_WAY_TO_READ =
      "go by TCP: (NO_SHARED_MEMORY|NO_DEVICE|NATIVE_MISSING) .*shm: ";

  @Test
  @Feature("Settings: an unknown key is refused with the nearest known one")
  void anUnknownKeyIsRefusedWithTheNearestKnownOne() {
    String message = refusal(Map.of("spark.shuffle.rdma.memory.sise", "1g"));
    assertTrue(message.contains("spark.shuffle.rdma.memory.sise"), message);
    assertTrue(message.contains("spark.shuffle.rdma.memory.size"), message);
  }

  @Test
  void aMalformedValueIsRefused() {
    String message = refusal(Map.of("spark.shuffle.rdma.read.timeout", "soon"));
    assertTrue(message.contains("spark.shuffle.rdma.read.timeout"), message);
    assertTrue(message.contains("soon"), message);
  }

  @Test
  void valuesThatContradictEachOtherAreRefused() {
    String message =
        refusal(
            Map.of(
                "spark.shuffle.rdma.read.timeout",
                "30s",
                "spark.shuffle.rdma.memory.quarantine",
                "1s"));
    assertTrue(message.contains("spark.shuffle.rdma.memory.quarantine"), message);
  }

  @Test
  @ExpectedWarnings(NO_WAY_TO_READ)
  void aMissingSlabDirectoryIsRefusedOrDoneWithout() {
    refusedOrRight(Map.of("spark.shuffle.rdma.memory.dir", "/no/such/directory"));
  }

  @Test
  @ExpectedWarnings({NO_WAY_TO_READ, "memory.size=auto is 0 MiB: .*; map outputs go to files"})
  void aSlabDirectoryThatCannotBeWrittenIsRefusedOrDoneWithout() {
    // Not even root creates files there.
    refusedOrRight(Map.of("spark.shuffle.rdma.memory.dir", "/proc"));
  }

  @Test
  @ExpectedWarnings(NO_WAY_TO_READ)
  void aFileInPlaceOfTheSlabDirectoryIsRefusedOrDoneWithout(@TempDir Path dir) throws IOException {
    Path file = Files.createFile(dir.resolve("file"));
    refusedOrRight(Map.of("spark.shuffle.rdma.memory.dir", file.toString()));
  }

  @Test
  @Feature("Transport: TCP alone")
  void tcpAloneGivesTheSameAndSaysWhy() {
    try (LocalCluster cluster =
        PluginApp.start("bad-tcp", Map.of("spark.shuffle.rdma.transports", "tcp"))) {
      assertRight(cluster);
      PluginTotals totals = cluster.totals();
      assertEquals(cluster.metrics().remoteBytes(), totals.bytes("tcp"));
      assertTrue(totals.fallbacks().containsKey("DISABLED"), PluginApp.summary(totals));
    }
  }

  @Test
  @Feature("Deployment: an application whose executors would lack the jar is refused")
  void executorsWithoutTheJarFailClearly() {
    String jobsOnly =
        HarnessPaths.userJars().stream().map(Path::toString).collect(Collectors.joining(","));
    // Executors register before they load the plugin, so it may take a job to see them fail.
    Exception failure =
        assertThrows(
            Exception.class,
            () -> {
              try (LocalCluster cluster =
                  PluginApp.start(
                      "bad-nojar",
                      Map.of(
                          "spark.jars",
                          jobsOnly,
                          "spark.executor.extraClassPath",
                          "",
                          "spark.deploy.maxExecutorRetries",
                          "1"))) {
                assertRight(cluster);
              }
            });
    String message = chain(failure);
    assertTrue(message.contains("--jars") || message.contains("spark.jars"), message);
  }

  @Test
  void leftoversOfACrashedApplicationAreNoHindrance() throws IOException {
    // The name is what a process leaves that was killed in the instant between making a slab's
    // file and unlinking it; that process is certainly gone.
    Path stale =
        Path.of("/dev/shm")
            .resolve(
                "rdma-shuffle-slab.%s.%d.999999999.1.00000000-0000-0000-0000-000000000000"
                    .formatted(
                        Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).strip(),
                        pidNamespace()));
    Files.write(stale, new byte[4096]);
    try (LocalCluster cluster = PluginApp.start("bad-stale", Map.of())) {
      assertRight(cluster);
      assertTrue(cluster.totals().bytes("shm") > 0, () -> PluginApp.summary(cluster.totals()));
      assertTrue(Files.notExists(stale), "the leftover is still there");
    } finally {
      Files.deleteIfExists(stale);
    }
  }

  @Test
  @Feature("Deployment: two applications on one host")
  void twoApplicationsOnOneHostDoNotMeet(@TempDir Path data) {
    JobInput input = new JobInput(data.toString(), 20 << 20, List.of(), 0.01, 0.02);
    try (RemoteApp one = remote("bad-first");
        RemoteApp two = remote("bad-second")) {
      JobReport first = one.run("sort", input, tasks -> {});
      JobReport second = two.run("sort", input, tasks -> {});
      assertEquals(first.result(), second.result());
      assertTrue(first.totals().bytes("shm") > 0, () -> PluginApp.summary(first.totals()));
      assertTrue(second.totals().bytes("shm") > 0, () -> PluginApp.summary(second.totals()));
      one.stop();
      assertEquals(first.result(), two.run("sort", input, tasks -> {}).result());
      two.stop();
    }
  }

  private static RemoteApp remote(String name) {
    return RemoteApp.start(ClusterSpec.forTests(name, ShuffleMode.PLUGIN));
  }

  private static long pidNamespace() throws IOException {
    String link = Files.readSymbolicLink(Path.of("/proc/self/ns/pid")).toString();
    return Long.parseLong(link.replaceAll("\\D", ""));
  }

  private static void assertRight(LocalCluster cluster) {
    assertEquals(
        PluginApp.expected(cluster, 4, 500), PluginApp.digest(PluginApp.moved(cluster, 4, 4, 500)));
  }

  /** Either the application refuses to start and names the setting, or it gives right results. */
  private static void refusedOrRight(Map<String, String> settings) {
    LocalCluster cluster;
    try {
      cluster = PluginApp.start("bad-input", settings);
    } catch (Exception e) {
      String message = chain(e);
      settings.keySet().forEach(key -> assertTrue(message.contains(key), message));
      return;
    }
    try (cluster) {
      assertRight(cluster);
      assertEquals(cluster.metrics().remoteBytes(), cluster.totals().allBytes());
    }
  }

  private static String refusal(Map<String, String> settings) {
    return chain(
        assertThrows(Exception.class, () -> PluginApp.start("bad-input", settings).close()));
  }

  private static String chain(Throwable e) {
    StringWriter out = new StringWriter();
    e.printStackTrace(new PrintWriter(out));
    return out.toString();
  }
}
