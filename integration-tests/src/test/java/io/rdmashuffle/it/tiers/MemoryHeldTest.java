package io.rdmashuffle.it.tiers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.harness.ClusterSpec;
import io.rdmashuffle.harness.LocalCluster;
import io.rdmashuffle.harness.ShuffleMode;
import io.rdmashuffle.it.ExpectedWarnings;
import io.rdmashuffle.it.PluginApp;
import io.rdmashuffle.jobs.ResultDigest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What executors hold beside their heap while job follows job. */
@Tag("slow")
class MemoryHeldTest {
  private static final long MIB = 1L << 20;
  private static final long HEAP = 1024 * MIB;

  /** What README.md allows a JVM of Spark's beside its heap. */
  private static final long JVM_OVERHEAD = 512 * MIB;

  private static final long SECONDS = Boolean.getBoolean("test.nightly") ? 600 : 40;

  // The whole heap is there from the start, so that what grows is not the heap. Memory comes free
  // soon, so that jobs use all of the budget again and again.
  private static final Map<String, String> SETTINGS =
      Map.of(
          "spark.executorEnv._JAVA_OPTIONS", "-Xms1g -XX:+AlwaysPreTouch",
          "spark.shuffle.rdma.memory.size", "64m",
          "spark.shuffle.rdma.memory.slabSize", "4m",
          "spark.shuffle.rdma.memory.receiveSize", "32m",
          "spark.shuffle.rdma.memory.quarantine", "1100ms",
          "spark.shuffle.rdma.read.timeout", "1s");

  @Test
  @ExpectedWarnings(ExpectedWarnings.BUDGET_SPENT)
  void isSlabsReceiveBuffersAndAConstant() throws Exception {
    ClusterSpec spec = ClusterSpec.forTests("tiers-memory", ShuffleMode.PLUGIN).with(SETTINGS);
    try (LocalCluster cluster = LocalCluster.start(spec)) {
      ResultDigest expected = PluginApp.expected(cluster, 8, 2000);
      List<ExecutorMemory> samples = new ArrayList<>();
      long endNs = System.nanoTime() + SECONDS * 1_000_000_000L;
      while (System.nanoTime() < endNs || samples.size() < 9) {
        assertEquals(expected, PluginApp.digest(PluginApp.moved(cluster, 8, 8, 2000)));
        System.gc(); // so that Spark's cleaner drops the shuffle
        samples.add(ExecutorMemory.of(cluster));
      }
      Map<String, Long> gauges = cluster.totals().gauges();
      long slabs =
          gauges.get("slabBytes")
              + gauges.get("receiveSlabBytes")
              + gauges.get("mappedIndexSlabBytes");
      assertTrue(slabs <= 2 * (64 + 32 + 8) * MIB, gauges::toString);
      // Spark itself and the JVM share a few pages of tmpfs, too.
      long shared = most(samples, ExecutorMemory::shared);
      assertTrue(shared <= slabs + MIB, () -> shared + " of shared memory, slabs " + slabs);
      long beyondHeap = most(samples, ExecutorMemory::largestPrivate) - HEAP;
      assertTrue(beyondHeap <= JVM_OVERHEAD, () -> beyondHeap + " beside heap and slabs");

      int third = samples.size() / 3;
      long before = mean(samples.subList(third, 2 * third));
      long after = mean(samples.subList(2 * third, samples.size()));
      System.out.printf(
          "%d jobs: slabs %d MiB, shared %d MiB, beyond the heap %d MiB, mean %d then %d MiB%n",
          samples.size(),
          slabs / MIB,
          shared / MIB,
          beyondHeap / MIB,
          (before - HEAP) / MIB,
          (after - HEAP) / MIB);
      assertTrue(after - before <= 16 * MIB, () -> "grows from " + before + " to " + after);
    }
  }

  private static long most(List<ExecutorMemory> samples, ToLongFunction<ExecutorMemory> value) {
    return samples.stream().mapToLong(value).max().orElseThrow();
  }

  private static long mean(List<ExecutorMemory> samples) {
    return (long)
        samples.stream().mapToLong(ExecutorMemory::largestPrivate).average().orElseThrow();
  }
}
