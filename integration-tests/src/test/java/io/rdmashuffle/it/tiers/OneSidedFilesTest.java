package io.rdmashuffle.it.tiers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.harness.ExecutorGauges;
import io.rdmashuffle.harness.ExecutorProcess;
import io.rdmashuffle.harness.LocalCluster;
import io.rdmashuffle.harness.PluginTotals;
import io.rdmashuffle.harness.Poll;
import io.rdmashuffle.it.PluginApp;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** How much of what lies in files is read one-sided, and what that leaves behind. */
@Tag("slow")
class OneSidedFilesTest {
  private static final int MAPS = 12;
  private static final int ROWS = 500;

  private static final Pattern DATA_FILE = Pattern.compile("shuffle_\\d+_\\d+_0\\.data");

  private static LocalCluster start(String name, Map<String, String> more) {
    Map<String, String> settings = new HashMap<>(more);
    settings.put("spark.shuffle.rdma.durability", "disk");
    settings.put("spark.shuffle.rdma.memory.quarantine", "1100ms");
    settings.put("spark.shuffle.rdma.read.timeout", "1s");
    return PluginApp.start(name, settings);
  }

  private static PluginTotals move(LocalCluster cluster) {
    assertEquals(
        PluginApp.expected(cluster, MAPS, ROWS),
        PluginApp.digest(PluginApp.moved(cluster, MAPS, 6, ROWS)));
    PluginTotals totals = cluster.totals();
    assertEquals(cluster.metrics().remoteBytes(), totals.allBytes(), PluginApp.summary(totals));
    assertEquals(0, cluster.metrics().failedTasks());
    return totals;
  }

  @Test
  void whatExceedsTheBoundComesOverTcp() {
    try (LocalCluster cluster =
        start("tiers-files-bound", Map.of("spark.shuffle.rdma.files.maxRegions", "2"))) {
      PluginTotals totals = move(cluster);
      ExecutorGauges.of(cluster)
          .forEach(
              (executor, gauges) ->
                  assertEquals(
                      Math.min(2, gauges.get("fileOutputs")),
                      gauges.get("mappedRegions"),
                      "of executor " + executor));
      assertTrue(totals.bytes("shm") > 0, () -> PluginApp.summary(totals));
      assertTrue(totals.bytes("tcp") > 0, () -> PluginApp.summary(totals));
      assertTrue(totals.fallbacks().get("FILE_TIER") > 0, () -> PluginApp.summary(totals));
      assertEquals(1, totals.fallbacks().size(), () -> PluginApp.summary(totals));
    }
  }

  @Test
  void switchedOffAllComesOverTcp() {
    try (LocalCluster cluster =
        start("tiers-files-off", Map.of("spark.shuffle.rdma.files.maxSize", "0"))) {
      PluginTotals totals = move(cluster);
      assertEquals(totals.allBytes(), totals.bytes("tcp"));
      assertEquals(0, totals.gauges().get("mappedRegions"));
    }
  }

  @Test
  void encryptedFilesAreReadAndNothingIsLeftOnceShufflesAreGone() throws IOException {
    try (LocalCluster cluster =
        start("tiers-files-left", Map.of("spark.io.encryption.enabled", "true"))) {
      for (int i = 0; i < 3; i++) {
        PluginTotals totals = move(cluster);
        assertEquals(totals.allBytes(), totals.bytes("shm"), () -> PluginApp.summary(totals));
      }
      assertTrue(held(cluster).size() >= 2 * MAPS, "each is mapped, and open");
      Poll.until(
          "executors hold files though no shuffle is left",
          60,
          TimeUnit.SECONDS,
          () -> {
            System.gc(); // Spark unregisters shuffles when their RDDs are collected
            return ExecutorGauges.of(cluster).values().stream()
                .allMatch(gauges -> gauges.get("mappedRegions") == 0);
          });
      assertEquals(List.of(), held(cluster));
      ExecutorGauges.of(cluster)
          .forEach((executor, gauges) -> assertEquals(0, gauges.get("mappedBytes"), executor));
    }
  }

  /** Mappings and descriptors of data files in all executors. */
  private static List<String> held(LocalCluster cluster) throws IOException {
    List<String> held = new ArrayList<>();
    for (ExecutorProcess executor : cluster.executors()) {
      Path proc = Path.of("/proc/" + executor.pid());
      try (Stream<String> mappings = Files.lines(proc.resolve("maps"));
          Stream<Path> descriptors = Files.list(proc.resolve("fd"))) {
        Stream.concat(mappings, descriptors.map(OneSidedFilesTest::target))
            .filter(line -> DATA_FILE.matcher(line).find())
            .forEach(held::add);
      }
    }
    return held;
  }

  private static String target(Path link) {
    try {
      return Files.readSymbolicLink(link).toString();
    } catch (IOException e) {
      return ""; // closed meanwhile
    }
  }
}
