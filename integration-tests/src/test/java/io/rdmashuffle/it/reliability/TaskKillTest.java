package io.rdmashuffle.it.reliability;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.harness.ExecutorGauges;
import io.rdmashuffle.harness.LocalCluster;
import io.rdmashuffle.harness.PluginTotals;
import io.rdmashuffle.harness.Poll;
import io.rdmashuffle.it.PluginApp;
import io.rdmashuffle.jobs.ResultDigest;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.spark.SparkJobInfo;
import org.apache.spark.SparkStageInfo;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkStatusTracker;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Job groups are cancelled and their tasks interrupted, at random moments of their reads: the
 * connection that all tasks of an executor share stays as it is, and later jobs notice nothing.
 */
@Tag("slow")
class TaskKillTest {
  private static final int ATTEMPTS = Boolean.getBoolean("test.nightly") ? 500 : 25;
  private static final int TASKS = 8;
  private static final int ROWS = 1_000;
  // A reduce task takes half a second: it pauses for 10 ms after each 20 of its 1,000 rows.
  private static final int ROWS_BETWEEN_PAUSES = 20;
  private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(10);
  private static final int MAX_DELAY_MS = 400;
  private static final long LIMIT_SECONDS = 60;

  @Test
  void interruptedTasksBreakNoConnection() throws Exception {
    // Small requests, so that there are always reads to be interrupted.
    try (LocalCluster cluster =
        PluginApp.start("task-kill", Map.of("spark.reducer.maxSizeInFlight", "32k"))) {
      ResultDigest expected = PluginApp.expected(cluster, TASKS, ROWS);
      assertEquals(expected, job(cluster));
      Map<String, Map<String, Long>> before = ExecutorGauges.of(cluster);
      before.forEach((id, gauges) -> assertEquals(1, gauges.get("shm.connections"), id));

      SplittableRandom random = new SplittableRandom(5);
      int cancelled = 0;
      for (int i = 0; i < ATTEMPTS; i++) {
        cancelled += cancelAmidReads(cluster, random.nextInt(MAX_DELAY_MS)) ? 1 : 0;
      }
      assertTrue(cancelled > ATTEMPTS / 2, "only " + cancelled + " jobs were cancelled in time");

      assertEquals(expected, job(cluster));
      Map<String, Map<String, Long>> after = ExecutorGauges.of(cluster);
      after.forEach((id, gauges) -> assertEquals(1, gauges.get("shm.connections"), id));
      PluginTotals totals = cluster.totals(0);
      // Those of tasks that were killed as they waited for the driver, and only those.
      assertTrue(Set.of("INTERRUPTED").containsAll(totals.fallbacks().keySet()), totals::toString);
      ExecutorGauges.awaitNothingLent(cluster);
    }
  }

  /** Whether the job was still at work when it was cancelled. */
  private static boolean cancelAmidReads(LocalCluster cluster, int delayMs) throws Exception {
    CompletableFuture<ResultDigest> job =
        CompletableFuture.supplyAsync(
            () -> {
              cluster.java().setJobGroup("to-cancel", "is cancelled amid its reads", true);
              return PluginApp.digest(
                  moved(cluster).mapPartitionsToPair(rows -> new SlowIterator<>(rows)));
            });
    Poll.until(
        "no reduce task started",
        LIMIT_SECONDS,
        TimeUnit.SECONDS,
        () -> job.isDone() || isReading(cluster));
    TimeUnit.MILLISECONDS.sleep(delayMs);
    cluster.context().cancelJobGroup("to-cancel");
    try {
      job.get(LIMIT_SECONDS, TimeUnit.SECONDS);
      return false;
    } catch (ExecutionException e) {
      assertTrue(e.getMessage().contains("cancelled"), e::getMessage);
      return true;
    }
  }

  /** Whether a reduce task of the group runs. */
  private static boolean isReading(LocalCluster cluster) {
    JavaSparkStatusTracker tracker = cluster.java().statusTracker();
    for (int job : tracker.getJobIdsForGroup("to-cancel")) {
      SparkJobInfo info = tracker.getJobInfo(job);
      for (int stage : info == null ? new int[0] : info.stageIds()) {
        SparkStageInfo reduce = tracker.getStageInfo(stage);
        if (reduce != null && reduce.name().startsWith("collect") && reduce.numActiveTasks() > 0) {
          return true;
        }
      }
    }
    return false;
  }

  private static ResultDigest job(LocalCluster cluster) {
    return PluginApp.digest(moved(cluster));
  }

  private static JavaPairRDD<Integer, byte[]> moved(LocalCluster cluster) {
    return PluginApp.moved(cluster, TASKS, TASKS, ROWS);
  }

  /** Pauses now and then, so that a task reads for a while; an interrupt ends a pause. */
  private static final class SlowIterator<T> implements Iterator<T> {
    private final Iterator<T> rows;
    private int seen;

    SlowIterator(Iterator<T> rows) {
      this.rows = rows;
    }

    @Override
    public boolean hasNext() {
      return rows.hasNext();
    }

    @Override
    public T next() {
      if (++seen % ROWS_BETWEEN_PAUSES == 0) {
        LockSupport.parkNanos(PAUSE_NS);
      }
      return rows.next();
    }
  }
}
