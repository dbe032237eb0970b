package io.rdmashuffle.it.rxe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.harness.LocalCluster;
import io.rdmashuffle.it.PluginApp;
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
final class RunningJob {
  private static final int TASKS = 12;
  private static final int ROWS = 300;

  // Far above what the job needs; a read that never ends is what it is there to catch.
  private static final long LIMIT_SECONDS = 240;

  private final ResultDigest expected;
  private final CountDownLatch firstReducerEnded = new CountDownLatch(1);
  private final CompletableFuture<ResultDigest> result;

  private RunningJob(LocalCluster cluster) {
    expected = PluginApp.expected(cluster, TASKS, ROWS);
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
        CompletableFuture.supplyAsync(
                () ->
                    PluginApp.digest(
                        PluginApp.moved(cluster, TASKS, TASKS, ROWS)
                            .mapPartitionsToPair(RunningJob::slowly, true)))
            .whenComplete((r, e) -> cluster.context().removeSparkListener(listener));
  }

  /** Starts it; returns when one of its reduce tasks has ended and most are still to come. */
  static RunningJob startAndAwaitReads(LocalCluster cluster) throws InterruptedException {
    RunningJob job = new RunningJob(cluster);
    assertTrue(
        job.firstReducerEnded.await(LIMIT_SECONDS, TimeUnit.SECONDS), "no reduce task ended");
    return job;
  }

  /** Starts it and waits for its end. */
  static void run(LocalCluster cluster) throws InterruptedException, ExecutionException {
    new RunningJob(cluster).assertRight();
  }

  /** Waits for its end. */
  void assertRight() throws InterruptedException, ExecutionException {
    try {
      assertEquals(expected, result.get(LIMIT_SECONDS, TimeUnit.SECONDS));
    } catch (TimeoutException e) {
      throw new AssertionError("the job hangs", e);
    }
  }

  private static Iterator<Tuple2<Integer, byte[]>> slowly(Iterator<Tuple2<Integer, byte[]>> rows) {
    return new Iterator<>() {
      private long seen;

      @Override
      public boolean hasNext() {
        return rows.hasNext();
      }

      @Override
      public Tuple2<Integer, byte[]> next() {
        if (++seen % 100 == 0) {
          try {
            TimeUnit.MILLISECONDS.sleep(100);
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
        }
        return rows.next();
      }
    };
  }
}
