package io.rdmashuffle.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.harness.ExecutorProcess;
import io.rdmashuffle.harness.LocalCluster;
import io.rdmashuffle.harness.ProcessCounts;
import io.rdmashuffle.jobs.ResultDigest;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import scala.Tuple2;

/** An executor that dies, or no longer answers, while others read from it. */
@Tag("slow")
class LostExecutorTest {
  private static final int TASKS = 24;
  private static final int ROWS = 4_000;
  // Far above what the jobs need; a read that never ends is what it is there to catch.
  private static final long LIMIT_SECONDS = 240;

  @Test
  @Feature("Recovery: an executor is killed while others read from it")
  void aKilledExecutorCostsNothingButTime() throws Exception {
    try (LocalCluster cluster = PluginApp.start("lost-killed", Map.of())) {
      ResultDigest expected = PluginApp.expected(cluster, TASKS, ROWS);
      CountDownLatch reading = afterFirstReducer(cluster);
      CompletableFuture<ResultDigest> result = startSlowJob(cluster);
      assertTrue(reading.await(LIMIT_SECONDS, TimeUnit.SECONDS), "no reduce task ended");
      List<ExecutorProcess> executors = cluster.executors();
      assertEquals(2, executors.size(), executors::toString);
      executors.get(0).kill();
      assertEquals(expected, await(result));
      assertTrue(
          cluster.metrics().failedTasks() > 0, "the kill came too late to hit a running task");
    }
    assertEquals(List.of(), ProcessCounts.slabFilesIn(Path.of("/dev/shm")));
  }

  @Test
  @Feature("Recovery: an executor does not answer for a while")
  void aFrozenExecutorIsReadAllTheSame() throws Exception {
    try (LocalCluster cluster = PluginApp.start("lost-frozen", Map.of())) {
      ResultDigest expected = PluginApp.expected(cluster, TASKS, ROWS);
      CountDownLatch reading = afterFirstReducer(cluster);
      CompletableFuture<ResultDigest> result = startSlowJob(cluster);
      assertTrue(reading.await(LIMIT_SECONDS, TimeUnit.SECONDS), "no reduce task ended");
      ExecutorProcess frozen = cluster.executors().get(0);
      frozen.signal("STOP");
      try {
        TimeUnit.SECONDS.sleep(5);
      } finally {
        frozen.signal("CONT");
      }
      assertEquals(expected, await(result));
    }
  }

  private static CompletableFuture<ResultDigest> startSlowJob(LocalCluster cluster) {
    return CompletableFuture.supplyAsync(
        () -> {
          JavaPairRDD<Integer, byte[]> moved = PluginApp.moved(cluster, TASKS, TASKS, ROWS);
          return PluginApp.digest(moved.mapPartitionsToPair(LostExecutorTest::slowly, true));
        });
  }

  /** Reads over a while, so that there are reads to interrupt. */
  private static Iterator<Tuple2<Integer, byte[]>> slowly(Iterator<Tuple2<Integer, byte[]>> rows) {
    return new Iterator<>() {
      private long seen;

      @Override
      public boolean hasNext() {
        return rows.hasNext();
      }

      @Override
      public Tuple2<Integer, byte[]> next() {
        if (++seen % 500 == 0) {
          try {
            TimeUnit.MILLISECONDS.sleep(50);
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
        }
        return rows.next();
      }
    };
  }

  private static CountDownLatch afterFirstReducer(LocalCluster cluster) {
    CountDownLatch latch = new CountDownLatch(1);
    JavaSparkContext java = cluster.java();
    java.sc()
        .addSparkListener(
            new SparkListener() {
              @Override
              public void onTaskEnd(SparkListenerTaskEnd end) {
                if (end.taskMetrics() != null
                    && end.taskMetrics().shuffleReadMetrics().recordsRead() > 0) {
                  latch.countDown();
                }
              }
            });
    return latch;
  }

  private static ResultDigest await(CompletableFuture<ResultDigest> result)
      throws InterruptedException, ExecutionException {
    try {
      return result.get(LIMIT_SECONDS, TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      throw new AssertionError("the job hangs", e);
    }
  }
}
