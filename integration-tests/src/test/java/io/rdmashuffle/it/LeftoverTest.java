package io.rdmashuffle.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.harness.LocalCluster;
import io.rdmashuffle.harness.ProcessCounts;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkEnv;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What is left of ours once an application, or one of its executors, was asked to stop. */
@Feature("Resources: memory, threads and connections return to zero")
@Tag("slow")
class LeftoverTest {
  private static final int EXECUTORS = 2;

  @Test
  void nothingIsLeftInTheDriver() throws InterruptedException {
    try (LocalCluster cluster = PluginApp.start("left-driver", Map.of())) {
      PluginApp.digest(PluginApp.moved(cluster, 4, 4, 500));
    }
    ProcessCounts left = afterAWhile();
    System.out.println("left in the driver after stop(): " + left);
    assertTrue(left.none(), left::toString);
    assertEquals(List.of(), ProcessCounts.slabFilesIn(Path.of("/dev/shm")));
  }

  @Test
  void nothingIsLeftInAnExecutorThatStops() {
    try (LocalCluster cluster = PluginApp.start("left-executor", Map.of())) {
      PluginApp.digest(PluginApp.moved(cluster, 4, 4, 500));
      cluster
          .executors()
          .forEach(
              executor -> assertFalse(executor.counts().mappings().isEmpty(), "no slab to free"));
      List<String> left = leftInExecutorsAfterStop(cluster);
      System.out.println("left in executors after stop(): " + left);
      assertEquals(List.of("", ""), left);
    }
  }

  /** Stops the manager of each executor; what it then still holds, or an empty text. */
  static List<String> leftInExecutorsAfterStop(LocalCluster cluster) {
    return cluster
        .java()
        .parallelize(List.of(1, 2), EXECUTORS)
        .map(
            i -> {
              // Long enough that the other executor gets the other task.
              TimeUnit.SECONDS.sleep(4);
              ProcessCounts before = ProcessCounts.of(ProcessHandle.current().pid());
              SparkEnv.get().shuffleManager().stop();
              ProcessCounts after = ProcessCounts.of(ProcessHandle.current().pid());
              return after.none() ? "" : "before: " + before + " after: " + after;
            })
        .collect();
  }

  /** What this process holds; Spark's own stop returns before all of its threads have ended. */
  static ProcessCounts afterAWhile() throws InterruptedException {
    ProcessCounts counts = ProcessCounts.of(ProcessHandle.current().pid());
    for (int i = 0; i < 50 && !counts.none(); i++) {
      TimeUnit.MILLISECONDS.sleep(100);
      counts = ProcessCounts.of(ProcessHandle.current().pid());
    }
    return counts;
  }
}
