package io.rdmashuffle.it.reliability;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.harness.ExecutorProcess;
import io.rdmashuffle.harness.LocalCluster;
import io.rdmashuffle.harness.OnEachExecutor;
import io.rdmashuffle.it.ExpectedWarnings;
import io.rdmashuffle.it.PluginApp;
import io.rdmashuffle.it.RunningJob;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Spark's RPC, Netty and listener threads serve everyone in their process, so none of them may wait
 * in our code: not while jobs run, and not while a peer does not answer.
 */
@Tag("slow")
class SparkThreadsTest {
  private static final int TASKS = 12;
  private static final int ROWS = 2_000;
  private static final long FROZEN_SECONDS = 3;

  // A lock that is held for an instant may be seen; a wait for a peer would last seconds.
  private static final long MOMENT_MS = 500;

  @Test
  @ExpectedWarnings(ExpectedWarnings.BUDGET_SPENT)
  void noneOfThemStandsStillInOurCode() throws Exception {
    Map<String, String> settings =
        Map.of(
            // Some blocks by TCP, so that Netty's threads serve map outputs from memory, too.
            "spark.shuffle.rdma.memory.size", "8m",
            "spark.shuffle.rdma.memory.slabSize", "4m");
    try (LocalCluster cluster = PluginApp.start("spark-threads", settings)) {
      RunningJob.run(cluster, TASKS, ROWS);
      OnEachExecutor.run(cluster, ThreadSampler::start);
      ThreadSampler.start();
      RunningJob job = RunningJob.startAndAwaitReads(cluster, TASKS, ROWS);
      ExecutorProcess frozen = cluster.executors().get(0);
      frozen.signal("STOP");
      try {
        TimeUnit.SECONDS.sleep(FROZEN_SECONDS);
      } finally {
        frozen.signal("CONT");
      }
      job.assertRight();
      RunningJob.run(cluster, TASKS, ROWS);
      Map<String, Map<String, ThreadSampler.Standstill>> found =
          OnEachExecutor.run(cluster, ThreadSampler::stop);
      found.put("driver", ThreadSampler.stop());
      assertEquals(3, found.size());
      found.forEach(
          (process, longest) ->
              longest.forEach(
                  (kind, standstill) ->
                      assertTrue(
                          standstill.millis() < MOMENT_MS, () -> process + ": " + standstill)));
    }
  }
}
