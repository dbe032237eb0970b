package io.rdmashuffle.it.features;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.harness.ClusterSpec;
import io.rdmashuffle.harness.Lineage;
import io.rdmashuffle.harness.LocalCluster;
import io.rdmashuffle.harness.PluginTotals;
import io.rdmashuffle.harness.ShuffleMode;
import io.rdmashuffle.it.ExpectedWarnings;
import io.rdmashuffle.it.Feature;
import io.rdmashuffle.it.PluginApp;
import io.rdmashuffle.jobs.ResultDigest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.spark.api.java.JavaPairRDD;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Executors that are asked to leave hand over their map outputs, which nobody computes again. */
@Tag("slow")
@ExpectedWarnings({
  ExpectedWarnings.LOST_EXECUTOR,
  ExpectedWarnings.BUDGET_SPENT,
  "go by TCP: STALE "
})
class DecommissionTest {
  private static final int MAPS = 12;
  private static final int REDUCERS = 6;
  private static final int ROWS = 500;

  @Test
  @Feature("Decommissioning: map outputs in memory migrate and are read one-sided again")
  void outputsMigrateIntoMemoryAndAreReadOneSidedFromThere() {
    try (LocalCluster cluster = start("decommission-memory", 3, Map.of())) {
      ResultDigest expected = PluginApp.expected(cluster, MAPS, ROWS);
      JavaPairRDD<Integer, byte[]> moved = PluginApp.moved(cluster, MAPS, REDUCERS, ROWS);
      assertEquals(expected, PluginApp.digest(moved));
      int shuffleId = Lineage.shuffleOf(moved.rdd());
      Map<Long, String> before = MapOutputs.executors(shuffleId);
      String victim = before.values().iterator().next();
      Decommission.executor(cluster, victim, shuffleId);
      Map<Long, String> after = MapOutputs.executors(shuffleId);
      assertEquals(before.keySet(), after.keySet(), "map outputs were computed again");
      assertHeldInMemory(cluster, shuffleId, after);
      PluginTotals atStart = cluster.totals();
      try (TaskEvents events = TaskEvents.attach(cluster)) {
        assertEquals(expected, PluginApp.digest(moved));
        assertEquals(List.of(), events.settle().fetchFailures());
      }
      PluginTotals read = cluster.totals().since(atStart);
      assertTrue(read.bytes("shm") > 0, () -> PluginApp.summary(read));
      assertEquals(0, read.bytes("tcp"), () -> PluginApp.summary(read));
    }
  }

  @Test
  @Feature("Decommissioning: map outputs beyond the memory budget migrate into files")
  void whatFindsNoMemoryMigratesIntoFiles() {
    Map<String, String> tight =
        Map.of("spark.shuffle.rdma.memory.size", "4m", "spark.shuffle.rdma.memory.slabSize", "4m");
    try (LocalCluster cluster = start("decommission-files", 2, tight)) {
      ResultDigest expected = PluginApp.expected(cluster, MAPS, ROWS);
      JavaPairRDD<Integer, byte[]> moved = PluginApp.moved(cluster, MAPS, REDUCERS, ROWS);
      assertEquals(expected, PluginApp.digest(moved));
      int shuffleId = Lineage.shuffleOf(moved.rdd());
      Map<Long, String> before = MapOutputs.executors(shuffleId);
      Decommission.executor(cluster, before.values().iterator().next(), shuffleId);
      assertEquals(before.keySet(), MapOutputs.executors(shuffleId).keySet());
      try (TaskEvents events = TaskEvents.attach(cluster)) {
        assertEquals(expected, PluginApp.digest(moved));
        assertEquals(List.of(), events.settle().fetchFailures());
      }
    }
  }

  @Test
  @Feature("Decommissioning: fallback storage")
  void theLastExecutorLeavesItsOutputsInTheFallbackStorage(@TempDir Path storage)
      throws IOException {
    Map<String, String> settings =
        Map.of("spark.storage.decommission.fallbackStorage.path", storage.toUri().toString());
    try (LocalCluster cluster = start("decommission-fallback", 1, settings)) {
      ResultDigest expected = PluginApp.expected(cluster, MAPS, ROWS);
      JavaPairRDD<Integer, byte[]> moved = PluginApp.moved(cluster, MAPS, REDUCERS, ROWS);
      assertEquals(expected, PluginApp.digest(moved));
      int shuffleId = Lineage.shuffleOf(moved.rdd());
      Map<Long, String> before = MapOutputs.executors(shuffleId);
      Decommission.executor(cluster, before.values().iterator().next(), shuffleId);
      Map<Long, String> after = MapOutputs.executors(shuffleId);
      assertEquals(before.keySet(), after.keySet());
      assertFalse(filesIn(storage).isEmpty(), "nothing came to the fallback storage");
      cluster.awaitExecutors(1);
      try (TaskEvents events = TaskEvents.attach(cluster)) {
        assertEquals(expected, PluginApp.digest(moved));
        assertEquals(List.of(), events.settle().fetchFailures());
      }
    }
  }

  private static LocalCluster start(String name, int executors, Map<String, String> settings) {
    return LocalCluster.start(
        ClusterSpec.forTests(name, ShuffleMode.PLUGIN)
            .sized(executors, 1, 1024)
            .with(Decommission.SETTINGS)
            .with(settings));
  }

  /** Each executor holds in its memory what the tracker says is there. */
  private static void assertHeldInMemory(
      LocalCluster cluster, int shuffleId, Map<Long, String> expected) {
    List<Integer> tasks = IntStream.range(0, 16).boxed().toList();
    Map<Long, String> held = new HashMap<>();
    cluster
        .java()
        .parallelize(tasks, tasks.size())
        .flatMapToPair(
            task -> {
              // Long enough that no executor takes them all.
              Thread.sleep(100);
              return ExecutorSide.holdings(shuffleId).iterator();
            })
        .collect()
        .forEach(holding -> held.put(holding._1(), holding._2()));
    assertEquals(expected, held);
  }

  private static List<Path> filesIn(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      return files.filter(Files::isRegularFile).toList();
    }
  }
}
