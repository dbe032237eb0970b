package io.rdmashuffle.it.features;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.harness.LocalCluster;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.apache.spark.ExecutorAllocationClient;
import org.apache.spark.scheduler.ExecutorDecommissionInfo;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import scala.Option;

/** Asks executors to leave and hand over what they hold. */
final class Decommission {
  private static final long LIMIT_SECONDS = 90;

  /** What lets executors hand over their map outputs. */
  static final Map<String, String> SETTINGS =
      Map.of(
          "spark.decommission.enabled", "true",
          "spark.storage.decommission.enabled", "true",
          "spark.storage.decommission.shuffleBlocks.enabled", "true",
          "spark.storage.decommission.replicationReattemptInterval", "1s");

  private Decommission() {}

  /**
   * Decommissions an executor and waits until it has handed over all of a shuffle and the driver
   * knows that it is gone: only then do the others ask anew where map outputs are.
   */
  static void executor(LocalCluster cluster, String executorId, int shuffleId) {
    AtomicBoolean isGone = new AtomicBoolean();
    SparkListener listener =
        new SparkListener() {
          @Override
          public void onExecutorRemoved(SparkListenerExecutorRemoved removed) {
            isGone.compareAndSet(false, removed.executorId().equals(executorId));
          }
        };
    cluster.context().addSparkListener(listener);
    start(cluster, executorId);
    await(
        "map outputs are still on executor " + executorId,
        () -> !MapOutputs.executors(shuffleId).containsValue(executorId));
    await("executor " + executorId + " does not leave", isGone::get);
    cluster.context().removeSparkListener(listener);
  }

  static void start(LocalCluster cluster, String executorId) {
    ExecutorAllocationClient client =
        (ExecutorAllocationClient) cluster.context().schedulerBackend();
    boolean isAccepted =
        client.decommissionExecutor(
            executorId, new ExecutorDecommissionInfo("of the test", Option.empty()), false, false);
    assertTrue(isAccepted, "executor " + executorId + " is not to be decommissioned");
  }

  /** Waits for what must come true some time soon. */
  static void await(String complaint, BooleanSupplier condition) {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
    while (!condition.getAsBoolean()) {
      assertTrue(System.nanoTime() < end, complaint);
      try {
        TimeUnit.MILLISECONDS.sleep(100);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException(e);
      }
    }
  }
}
