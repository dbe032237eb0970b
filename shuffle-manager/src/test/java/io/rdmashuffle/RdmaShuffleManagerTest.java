package io.rdmashuffle;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkConf;
import org.apache.spark.storage.ShuffleBlockId;
import org.junit.jupiter.api.Test;
import scala.Option;

/** The manager outside of an executor, which has no runtime yet. */
final class RdmaShuffleManagerTest {
  private static final long PATIENCE_SECONDS = 20;

  private final RdmaShuffleManager manager =
      new RdmaShuffleManager(
          new SparkConf(false)
              .set("spark.master", "spark://host:7077")
              .set("spark.app.id", "app-1")
              .set("spark.executor.extraClassPath", "/opt/rdma-shuffle.jar"),
          false);

  /** A runtime starts and stops under the manager's lock, which may take tens of seconds. */
  @Test
  void threadsOfSparkDoNotWaitForARuntimeThatStartsOrStops() throws Exception {
    synchronized (manager) {
      assertTrue(
          CompletableFuture.supplyAsync(() -> manager.unregisterShuffle(1))
              .get(PATIENCE_SECONDS, TimeUnit.SECONDS));
      // There is no such block, nor an executor; but that is for Spark's own resolver to say.
      assertTrue(
          CompletableFuture.runAsync(
                  () ->
                      manager
                          .shuffleBlockResolver()
                          .getBlockData(new ShuffleBlockId(1, 2, 3), Option.empty()))
              .handle((found, failure) -> failure != null)
              .get(PATIENCE_SECONDS, TimeUnit.SECONDS));
    }
  }
}
