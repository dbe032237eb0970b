package io.rdmashuffle.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.harness.LocalCluster;
import io.rdmashuffle.jobs.ResultDigest;
import java.util.Iterator;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import scala.Tuple2;

/** A job that reads for a while, so that something can happen in its midst. */
public final class RunningJob {
  // Far above what the job needs; a read that never ends is what it is there to catch.
  private static final long LIMIT_SECONDS = 240;
  private static final int PAUSES_PER_TASK = 8;
  private static final long PAUSE_MS = 50;

  private final LocalCluster cluster;
  private final ResultDigest expected;
  private final CountDownLatch firstReducerEnded = new CountDownLatch(1);
  private final CompletableFuture<ResultDigest> result;

  private RunningJob(LocalCluster cluster, int tasks, int rows) {
    this.cluster = cluster;
    expected = PluginApp.expected(cluster, tasks, rows);
    SparkListener listener =
        new SparkListener() {
          @Override
          public void onTaskEnd(SparkListenerTaskEnd end) {
            if (end.taskMetrics() != null
                && end.taskMetrics().shuffleReadMetrics().recordsRead() > 0) {
              firstReducerEnded.countDown();
            }
          }
        };
    cluster.context().addSparkListener(listener);
    result =
        CompletableFuture.supplyAsync(() -> moveSlowly(cluster, tasks, rows))
            .whenComplete((r, e) -> cluster.context().removeSparkListener(listener));
  }

  private static ResultDigest moveSlowly(LocalCluster cluster, int tasks, int rows) {
    int rowsPerPause = Math.max(1, rows / PAUSES_PER_TASK);
    return PluginApp.digest(
        PluginApp.moved(cluster, tasks, tasks, rows)
            .mapPartitionsToPair(read -> slowly(read, rowsPerPause), true));
  }

  /** Starts it; returns when one of its reduce tasks has ended and most are still to come. */
  public static RunningJob startAndAwaitReads(LocalCluster cluster, int tasks, int rows)
      throws InterruptedException {
    RunningJob job = new RunningJob(cluster, tasks, rows);
    assertTrue(
        job.firstReducerEnded.await(LIMIT_SECONDS, TimeUnit.SECONDS), "no reduce task ended");
    return job;
  }

  /** Starts it and waits for its end. */
  public static void run(LocalCluster cluster, int tasks, int rows)
      throws InterruptedException, ExecutionException {
    new RunningJob(cluster, tasks, rows).assertRight();
  }

  /** Waits for its end. */
  public void assertRight() throws InterruptedException, ExecutionException {
    try {
      assertEquals(expected, result.get(LIMIT_SECONDS, TimeUnit.SECONDS));
    } catch (TimeoutException e) {
      throw new AssertionError("the job hangs", e);
    }
  }

  /** Kills one executor in the midst of it; the result must be right all the same. */
  public void killAnExecutorAndAssertRight() throws InterruptedException, ExecutionException {
    cluster.executors().get(0).kill();
    assertRight();
    assertTrue(cluster.metrics().failedTasks() > 0, "the kill hit no running task");
  }

  private static Iterator<Tuple2<Integer, byte[]>> slowly(
      Iterator<Tuple2<Integer, byte[]>> rows, int rowsPerPause) {
    return new Iterator<>() {
      private long seen;

      @Override
      public boolean hasNext() {
        return rows.hasNext();
      }

      @Override
      public Tuple2<Integer, byte[]> next() {
        if (++seen % rowsPerPause == 0) {
          try {
            TimeUnit.MILLISECONDS.sleep(PAUSE_MS);
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
        }
        return rows.next();
      }
    };
  }
}
