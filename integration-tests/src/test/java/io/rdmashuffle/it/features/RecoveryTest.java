package io.rdmashuffle.it.features;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.harness.ExecutorProcess;
import io.rdmashuffle.harness.Lineage;
import io.rdmashuffle.harness.LocalCluster;
import io.rdmashuffle.it.ExpectedWarnings;
import io.rdmashuffle.it.Feature;
import io.rdmashuffle.it.PluginApp;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.spark.FetchFailed;
import org.apache.spark.HashPartitioner;
import org.apache.spark.SparkException;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaPairRDD;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import scala.Tuple2;

/** Map outputs that are lost, and tasks that run twice: the results stay what they were. */
@Tag("slow")
@ExpectedWarnings({ExpectedWarnings.LOST_EXECUTOR, "go by TCP: STALE "})
class RecoveryTest {
  private static final int MAPS = 6;
  private static final int REDUCERS = 4;
  private static final int RECORDS = 3_000;
  private static final int KEYS = 97;

  private static LocalCluster cluster;

  /** Held, so that its shuffle is not dropped while a task of an old attempt writes to it. */
  @SuppressWarnings("unused")
  private static JavaPairRDD<?, ?> writtenByZombies;

  @BeforeAll
  static void start() {
    cluster =
        PluginApp.start(
            "recovery",
            Map.of(
                "spark.shuffle.io.maxRetries", "1",
                "spark.shuffle.io.retryWait", "200ms",
                "spark.stage.maxConsecutiveAttempts", "3"));
  }

  @AfterAll
  static void stop() {
    writtenByZombies = null;
    if (cluster != null) {
      cluster.close();
    }
  }

  @BeforeEach
  void allExecutorsAreThere() {
    cluster.awaitExecutors(2);
  }

  @Test
  @Feature("Recovery: fetch failures name the map output and its index")
  void aLostMapOutputIsNamedExactlyAndComputedAgain() {
    JavaPairRDD<Integer, Long> moved = numbers().partitionBy(new HashPartitioner(REDUCERS));
    int shuffleId = Lineage.shuffleOf(moved.rdd());
    assertEquals(expectedSums(), sums(moved));
    Map<Long, Integer> indexes = mapIndexes(shuffleId);
    Set<Long> lost = new HashSet<>(onAnExecutor(shuffleId));
    assertFalse(lost.isEmpty(), "the executor held none of the map outputs");
    try (TaskEvents events = TaskEvents.attach(cluster)) {
      assertEquals(expectedSums(), sums(moved));
      List<FetchFailed> failures = events.settle().fetchFailures();
      assertFalse(failures.isEmpty(), "nothing failed to be fetched");
      for (FetchFailed failure : failures) {
        assertEquals(shuffleId, failure.shuffleId(), failure::toString);
        assertTrue(lost.contains(failure.mapId()), failure::toString);
        assertEquals(indexes.get(failure.mapId()), failure.mapIndex(), failure::toString);
        assertTrue(failure.reduceId() >= 0 && failure.reduceId() < REDUCERS, failure::toString);
      }
    }
  }

  @Test
  @Feature("Recovery: indeterminate stages are rolled back")
  void anIndeterminateStageIsRunAgainAsAWholeWithAllThatRestsOnIt() {
    // Round robin over records that come in no order of their own.
    JavaPairRDD<Integer, Long> spread =
        numbers().partitionBy(new HashPartitioner(REDUCERS)).repartition(REDUCERS);
    int shuffleId = Lineage.lastShuffleOf(spread.rdd());
    JavaPairRDD<Integer, Long> reduced =
        spread
            .mapPartitionsToPair(
                records -> {
                  List<Tuple2<Integer, Long>> all = new ArrayList<>();
                  records.forEachRemaining(all::add);
                  TaskContext task = TaskContext.get();
                  if (task.stageAttemptNumber() == 0 && task.partitionId() == 0) {
                    ExecutorSide.lose(shuffleId);
                  }
                  return all.iterator();
                })
            .reduceByKey(Long::sum, REDUCERS);
    try (TaskEvents events = TaskEvents.attach(cluster)) {
      assertEquals(expectedSums(), new HashMap<>(reduced.collectAsMap()));
      assertFalse(events.settle().fetchFailures().isEmpty(), "nothing failed to be fetched");
      List<List<Integer>> again =
          events.tasksByStage().values().stream().filter(tasks -> tasks.size() > 1).toList();
      // The stage that shuffles round robin and the one that read from it.
      assertEquals(
          2,
          again.stream().filter(tasks -> isWhole(tasks)).count(),
          events.tasksByStage()::toString);
    }
  }

  private static boolean isWhole(List<Integer> tasksOfAttempts) {
    return tasksOfAttempts.get(tasksOfAttempts.size() - 1) == REDUCERS;
  }

  @Test
  @Feature("Recovery: spark.stage.maxConsecutiveAttempts")
  void aStageThatKeepsFailingFailsTheJobWithSparksOwnWords() {
    // Each attempt reads a partition or two before the outputs are lost, so that many are left.
    JavaPairRDD<Integer, Long> moved = numbers().partitionBy(new HashPartitioner(5 * REDUCERS));
    int shuffleId = Lineage.shuffleOf(moved.rdd());
    JavaPairRDD<Integer, Long> doomed =
        moved.mapPartitionsToPair(
            records -> {
              records.forEachRemaining(record -> {});
              ExecutorSide.lose(shuffleId);
              // So that the other executor gets the next task, too.
              TimeUnit.MILLISECONDS.sleep(200);
              return records;
            });
    SparkException failure = assertThrows(SparkException.class, doomed::count);
    assertTrue(
        failure.getMessage().contains("failed the maximum allowable number of times: 3"),
        failure::getMessage);
    assertEquals(expectedSums(), sums(numbers().partitionBy(new HashPartitioner(REDUCERS))));
  }

  @Test
  @Feature("Recovery: zombie tasks of a failed stage attempt")
  void tasksOfAnAttemptThatHasFailedDoNoHarm() {
    JavaPairRDD<Integer, Long> first = numbers().partitionBy(new HashPartitioner(REDUCERS));
    int shuffleId = Lineage.shuffleOf(first.rdd());
    JavaPairRDD<Integer, Long> second =
        first
            .mapPartitionsToPair(
                records -> {
                  List<Tuple2<Integer, Long>> all = new ArrayList<>();
                  records.forEachRemaining(all::add);
                  TaskContext task = TaskContext.get();
                  if (task.stageAttemptNumber() == 0 && task.partitionId() == 0) {
                    ExecutorSide.lose(shuffleId);
                  } else if (task.stageAttemptNumber() == 0) {
                    // Ends when its attempt is long over, and hands in its map output.
                    TaskPause.heedless(2_000);
                  }
                  return all.iterator();
                })
            .partitionBy(new HashPartitioner(REDUCERS + 1));
    writtenByZombies = second;
    try (TaskEvents events = TaskEvents.attach(cluster)) {
      assertEquals(expectedSums(), sums(second));
      assertEquals(expectedSums(), sums(second));
      assertFalse(events.settle().fetchFailures().isEmpty(), "nothing failed to be fetched");
    }
  }

  @Test
  @Feature("Recovery: lost executor")
  void whatAKilledExecutorHeldIsComputedAgain() {
    JavaPairRDD<Integer, Long> moved = numbers().partitionBy(new HashPartitioner(REDUCERS));
    assertEquals(expectedSums(), sums(moved));
    ExecutorProcess victim = cluster.executors().get(0);
    victim.kill();
    assertEquals(expectedSums(), sums(moved));
    assertFalse(cluster.executors().contains(victim), "it is still there");
  }

  private static JavaPairRDD<Integer, Long> numbers() {
    List<Integer> seeds = IntStream.range(0, MAPS).boxed().toList();
    return cluster
        .java()
        .parallelize(seeds, MAPS)
        .flatMapToPair(
            seed ->
                IntStream.range(0, RECORDS)
                    .mapToObj(i -> new Tuple2<>((seed + i) % KEYS, (long) seed * RECORDS + i))
                    .iterator());
  }

  private static Map<Integer, Long> expectedSums() {
    Map<Integer, Long> sums = new HashMap<>();
    for (int seed = 0; seed < MAPS; seed++) {
      for (int i = 0; i < RECORDS; i++) {
        sums.merge((seed + i) % KEYS, (long) seed * RECORDS + i, Long::sum);
      }
    }
    return sums;
  }

  /** Adds up without a second shuffle, so that every record counts as often as it was read. */
  private static Map<Integer, Long> sums(JavaPairRDD<Integer, Long> moved) {
    List<Map<Integer, Long>> parts =
        moved
            .mapPartitions(
                records -> {
                  Map<Integer, Long> part = new HashMap<>();
                  records.forEachRemaining(
                      record -> part.merge(record._1(), record._2(), Long::sum));
                  return List.of(part).iterator();
                })
            .collect();
    Map<Integer, Long> sums = new HashMap<>();
    parts.forEach(part -> part.forEach((key, sum) -> sums.merge(key, sum, Long::sum)));
    return sums;
  }

  private static Map<Long, Integer> mapIndexes(int shuffleId) {
    Map<Long, Integer> indexes = new HashMap<>();
    MapOutputs.mapTaskIds(shuffleId).forEach((index, mapTaskId) -> indexes.put(mapTaskId, index));
    return indexes;
  }

  /** Loses what one executor holds of a shuffle; returns the map tasks. */
  private static List<Long> onAnExecutor(int shuffleId) {
    return cluster
        .java()
        .parallelize(List.of(shuffleId), 1)
        .flatMap(id -> ExecutorSide.lose(id).iterator())
        .collect();
  }
}
