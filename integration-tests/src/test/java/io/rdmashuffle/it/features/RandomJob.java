package io.rdmashuffle.it.features;

import io.rdmashuffle.harness.LocalCluster;
import io.rdmashuffle.jobs.Digests;
import io.rdmashuffle.jobs.ResultDigest;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.sql.SparkSession;

/** A job that a seed stands for: what it reads, what it does, and what goes wrong meanwhile. */
final class RandomJob {
  /** What goes wrong. */
  enum Fault {
    NONE,
    /** An executor is killed while the job runs. */
    KILL,
    /** An executor loses what it holds in memory, and nobody is told. */
    LOSE
  }

  private record Step(RandomStep operation, int partitions) {}

  private final long seed;
  private final RandomInput input;
  private final List<Step> steps = new ArrayList<>();
  private final Map<String, String> sqlSettings = new LinkedHashMap<>();
  private final Fault fault;
  private final int faultyStep;
  private final int killAfterMillis;

  RandomJob(long seed) {
    this.seed = seed;
    SplittableRandom random = new SplittableRandom(seed);
    input = RandomInput.of(seed, random);
    int[] partitions = {1, 2, 3, 5, 5, 8, 8, 20, 20, 210};
    for (int i = 1 + random.nextInt(3); i > 0; i--) {
      steps.add(new Step(RandomStep.pick(random), partitions[random.nextInt(partitions.length)]));
    }
    sqlSettings.put("spark.sql.adaptive.enabled", Boolean.toString(random.nextBoolean()));
    sqlSettings.put(
        "spark.sql.adaptive.advisoryPartitionSizeInBytes", random.nextBoolean() ? "16k" : "64m");
    sqlSettings.put(
        "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes",
        random.nextBoolean() ? "16k" : "256m");
    sqlSettings.put("spark.sql.autoBroadcastJoinThreshold", random.nextBoolean() ? "-1" : "10m");
    int kind = random.nextInt(10);
    fault = kind == 0 ? Fault.KILL : kind < 4 ? Fault.LOSE : Fault.NONE;
    faultyStep = random.nextInt(steps.size());
    killAfterMillis = random.nextInt(600);
  }

  long seed() {
    return seed;
  }

  Fault fault() {
    return fault;
  }

  int killAfterMillis() {
    return killAfterMillis;
  }

  /** Runs it, with what goes wrong by its own doing where that is wanted. */
  ResultDigest run(LocalCluster cluster, boolean withFaults) {
    SparkSession spark = cluster.spark();
    sqlSettings.forEach(spark.conf()::set);
    JavaPairRDD<Integer, String> records = RandomStep.source(cluster.java(), input);
    for (int i = 0; i < steps.size(); i++) {
      Step step = steps.get(i);
      records = step.operation().apply(spark, records, step.partitions());
      if (withFaults && fault == Fault.LOSE && i == faultyStep) {
        records = losing(records);
      }
    }
    return Digests.multiset(
        records.map(pair -> pair._1() + "=" + pair._2()),
        line -> line.getBytes(StandardCharsets.UTF_8));
  }

  /** The first task to have read its input loses all that its executor holds. */
  private static JavaPairRDD<Integer, String> losing(JavaPairRDD<Integer, String> records) {
    return records.mapPartitionsToPair(
        part -> {
          TaskContext task = TaskContext.get();
          if (task.partitionId() == 0
              && task.attemptNumber() == 0
              && task.stageAttemptNumber() == 0) {
            ExecutorSide.loseAll();
          }
          return part;
        });
  }

  @Override
  public String toString() {
    return "seed " + seed + ": " + steps + " of " + input + " with " + sqlSettings + ", " + fault;
  }
}
