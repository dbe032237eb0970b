package io.rdmashuffle.it.features;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.harness.ClusterSpec;
import io.rdmashuffle.harness.LocalCluster;
import io.rdmashuffle.harness.PluginTotals;
import io.rdmashuffle.harness.ShuffleMode;
import io.rdmashuffle.it.ExpectedWarnings;
import io.rdmashuffle.it.Feature;
import io.rdmashuffle.it.PluginApp;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.spark.HashPartitioner;
import org.apache.spark.api.java.JavaPairRDD;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import scala.Tuple2;

/** Executors that come when there is work and go when nobody needs what they hold. */
@Tag("slow")
@ExpectedWarnings(ExpectedWarnings.LOST_EXECUTOR)
class DynamicAllocationTest {
  private static final Map<String, String> SETTINGS =
      Map.of(
          "spark.dynamicAllocation.enabled", "true",
          "spark.dynamicAllocation.shuffleTracking.enabled", "true",
          "spark.dynamicAllocation.minExecutors", "1",
          "spark.dynamicAllocation.initialExecutors", "1",
          "spark.dynamicAllocation.maxExecutors", "3",
          "spark.dynamicAllocation.schedulerBacklogTimeout", "1s",
          "spark.dynamicAllocation.executorIdleTimeout", "3s",
          "spark.executor.cores", "1");

  @Test
  @Feature({
    "Dynamic allocation with shuffle tracking",
    "Dynamic allocation: executors that join late"
  })
  void executorsThatComeAndGoReadOneSidedAndStayWhileTheyAreNeeded() throws Exception {
    ClusterSpec spec =
        ClusterSpec.forTests("dynamic", ShuffleMode.PLUGIN).sized(3, 1, 1024).with(SETTINGS);
    // The harness waits for as many executors as there are workers, and there is one at first.
    ClusterSpec oneAtFirst =
        spec.sized(0, 1, 1024)
            .with("spark.master", "local-cluster[3,1,1024]")
            .with("spark.executor.memory", "1024m");
    try (LocalCluster cluster = LocalCluster.start(oneAtFirst)) {
      cluster.awaitExecutors(1);
      JavaPairRDD<Integer, Integer> moved = slowlyMoved(cluster);
      assertEquals(60, moved.count());
      assertTrue(cluster.executors().size() > 1, "no executor joined");
      // Idle for longer than executors without shuffle data are kept.
      TimeUnit.SECONDS.sleep(6);
      try (TaskEvents events = TaskEvents.attach(cluster)) {
        assertEquals(60, moved.count());
        assertEquals(List.of(), events.settle().fetchFailures());
      }
      PluginTotals totals = cluster.totals();
      assertEquals(cluster.metrics().remoteBytes(), totals.allBytes(), totals::toString);
      assertTrue(totals.bytes("shm") > 0, () -> PluginApp.summary(totals));
      assertEquals(0, totals.bytes("tcp"), () -> PluginApp.summary(totals));
    }
  }

  /** Long enough a map stage for executors to join while it runs. */
  private static JavaPairRDD<Integer, Integer> slowlyMoved(LocalCluster cluster) {
    List<Integer> numbers = IntStream.range(0, 60).boxed().toList();
    return cluster
        .java()
        .parallelize(numbers, 60)
        .mapToPair(
            i -> {
              TimeUnit.MILLISECONDS.sleep(400);
              return new Tuple2<>(i, i);
            })
        .partitionBy(new HashPartitioner(12));
  }
}
