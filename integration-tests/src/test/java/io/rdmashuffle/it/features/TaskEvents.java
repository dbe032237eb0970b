package io.rdmashuffle.it.features;

import io.rdmashuffle.harness.LocalCluster;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeoutException;
import org.apache.spark.FetchFailed;
import org.apache.spark.TaskEndReason;
import org.apache.spark.TaskKilled;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;

/** What the scheduler says of stages and tasks while it is attached. */
final class TaskEvents extends SparkListener implements AutoCloseable {
  private final LocalCluster cluster;

  // Guarded by this.
  private final List<TaskEndReason> failures = new ArrayList<>();
  private final Map<Integer, List<Integer>> tasksByStage = new HashMap<>();
  private final Set<String> speculated = new TreeSet<>();

  private TaskEvents(LocalCluster cluster) {
    this.cluster = cluster;
  }

  static TaskEvents attach(LocalCluster cluster) {
    TaskEvents events = new TaskEvents(cluster);
    cluster.context().addSparkListener(events);
    return events;
  }

  @Override
  public synchronized void onStageSubmitted(SparkListenerStageSubmitted submitted) {
    tasksByStage
        .computeIfAbsent(submitted.stageInfo().stageId(), id -> new ArrayList<>())
        .add(submitted.stageInfo().numTasks());
  }

  @Override
  public synchronized void onTaskEnd(SparkListenerTaskEnd end) {
    if (!end.taskInfo().successful()) {
      failures.add(end.reason());
    }
    if (end.taskInfo().speculative()) {
      speculated.add(end.taskInfo().id());
    }
  }

  /** Fetch failures so far. */
  synchronized List<FetchFailed> fetchFailures() {
    return failures.stream()
        .filter(FetchFailed.class::isInstance)
        .map(FetchFailed.class::cast)
        .toList();
  }

  /** Tasks killed so far, for whatever reason. */
  synchronized long killed() {
    return failures.stream().filter(TaskKilled.class::isInstance).count();
  }

  /** Copies of tasks that the scheduler started since the first was slow. */
  synchronized int speculated() {
    return speculated.size();
  }

  /** Of each stage the number of tasks of its attempts, in order. */
  synchronized Map<Integer, List<Integer>> tasksByStage() {
    return Map.copyOf(tasksByStage);
  }

  /** Waits until everything that happened so far has been heard of. */
  TaskEvents settle() {
    try {
      cluster.context().listenerBus().waitUntilEmpty();
    } catch (TimeoutException e) {
      throw new IllegalStateException("Spark's listener bus did not drain", e);
    }
    return this;
  }

  @Override
  public void close() {
    cluster.context().removeSparkListener(this);
  }
}
