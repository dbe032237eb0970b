package io.rdmashuffle.it.features;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.harness.LocalCluster;
import io.rdmashuffle.harness.PluginTotals;
import io.rdmashuffle.it.Feature;
import io.rdmashuffle.it.PluginApp;
import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.HashPartitioner;
import org.apache.spark.Partitioner;
import org.apache.spark.SparkException;
import org.apache.spark.api.java.JavaFutureAction;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.streaming.Trigger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import scala.Tuple2;
import scala.collection.Iterator;
import scala.reflect.ClassTag$;
import scala.runtime.AbstractFunction1;

/**
 * What goes on around shuffles, in an application with Kryo at its strictest and a user's codec.
 */
@Tag("slow")
class AroundTest {
  private static final int RECORDS = 2_000;
  private static final int KEYS = 50;

  private static LocalCluster cluster;

  @BeforeAll
  static void start() {
    cluster =
        PluginApp.start(
            "around",
            Map.of(
                "spark.serializer", "org.apache.spark.serializer.KryoSerializer",
                "spark.kryo.registrationRequired", "true",
                "spark.kryo.classesToRegister",
                    "scala.reflect.ManifestFactory$ObjectManifest,[Lscala.Tuple2;",
                "spark.io.compression.codec", ShiftCodec.class.getName()));
  }

  @AfterAll
  static void stop() {
    if (cluster != null) {
      cluster.close();
    }
  }

  @Test
  @Feature({"Kryo with registration required", "Custom compression codec"})
  void aShuffleNeedsNoRegistrationOfOurs() {
    assertOneSided(
        () -> assertEquals(expected(), counts(pairs().partitionBy(new HashPartitioner(4)))));
  }

  @Test
  @Feature("Barrier stages")
  void aBarrierStageReadsAShuffle() {
    RDD<Tuple2<Integer, Integer>> read =
        pairs()
            .partitionBy(new HashPartitioner(2))
            .rdd()
            .barrier()
            .mapPartitions(
                new AwaitAllTasks(),
                true,
                ClassTag$.MODULE$.<Tuple2<Integer, Integer>>apply(Tuple2.class));
    assertEquals(RECORDS, read.count());
  }

  @Test
  @Feature("Task cancellation and job groups")
  void aJobThatIsCancelledLeavesNothingAndDisturbsNobody() throws Exception {
    cluster.java().setJobGroup("doomed", "is cancelled", true);
    JavaFutureAction<List<Tuple2<Integer, Integer>>> job =
        pairs()
            .partitionBy(new HashPartitioner(4))
            .mapPartitionsToPair(
                records -> {
                  records.next();
                  TimeUnit.MINUTES.sleep(5);
                  return records;
                })
            .collectAsync();
    cluster.java().clearJobGroup();
    Decommission.await(
        "no task of the job runs",
        () -> cluster.context().statusTracker().getActiveStageIds().length > 0);
    TimeUnit.SECONDS.sleep(1);
    cluster.java().cancelJobGroup("doomed");
    assertThrows(ExecutionException.class, () -> job.get(60, TimeUnit.SECONDS));
    assertEquals(expected(), counts(pairs().partitionBy(new HashPartitioner(4))));
    assertEquals(0, cluster.totals().bytes("tcp"), () -> PluginApp.summary(cluster.totals()));
  }

  /** Spark starts its Python workers from tasks in the same way. */
  @Test
  @Feature("Processes that tasks start while they read")
  void processesThatTasksStartGetWhatWasShuffled() {
    List<String> expected =
        IntStream.range(0, RECORDS).mapToObj(i -> i % KEYS + " " + i).sorted().toList();
    assertOneSided(
        () -> {
          List<String> found =
              pairs()
                  .partitionBy(new HashPartitioner(4))
                  .map(pair -> pair._1() + " " + pair._2())
                  .pipe("cat")
                  .collect();
          assertEquals(expected, found.stream().sorted().toList());
        });
  }

  @Test
  @Feature("Partitioners that fail")
  void aPartitionerThatFailsFailsTheJobAndNothingElse() {
    JavaPairRDD<Integer, Integer> moved = pairs().partitionBy(new FailingPartitioner());
    SparkException failure = assertThrows(SparkException.class, moved::count);
    assertTrue(failure.getMessage().contains("no partition for"), failure::getMessage);
    assertEquals(expected(), counts(pairs().partitionBy(new HashPartitioner(4))));
  }

  @Test
  @Feature("spark.cleaner: memory of shuffles that are not used any more is freed")
  void shufflesThatNobodyHoldsAreFreed() {
    pairs().partitionBy(new HashPartitioner(4)).count();
    Decommission.await(
        "map outputs stay in memory",
        () -> {
          System.gc(); // what Spark's cleaner waits for
          return outputsInMemory() == 0;
        });
  }

  @Test
  @Feature("Structured Streaming with state")
  void aStreamThatKeepsStateCountsRight(@TempDir Path dir) throws Exception {
    SparkSession spark = cluster.spark();
    spark.conf().set("spark.sql.shuffle.partitions", "3");
    spark
        .conf()
        .set("spark.sql.streaming.checkpointLocation", dir.resolve("checkpoint").toString());
    Path input = Files.createDirectory(dir.resolve("input"));
    Map<Long, Long> expected = new HashMap<>();
    for (int batch = 0; batch < 2; batch++) {
      writeNumbers(input, batch, expected);
      spark
          .readStream()
          .schema("k LONG")
          .json(input.toString())
          .groupBy("k")
          .count()
          .writeStream()
          .queryName("counts") // a directory of checkpoints for both runs
          .outputMode("complete")
          .trigger(Trigger.AvailableNow())
          .foreachBatch(
              (rows, id) -> {
                rows.write().mode("overwrite").parquet(dir.resolve("out").toString());
              })
          .start()
          .awaitTermination();
    }
    Map<Long, Long> found =
        spark.read().parquet(dir.resolve("out").toString()).collectAsList().stream()
            .collect(Collectors.toMap((Row row) -> row.getLong(0), row -> row.getLong(1)));
    assertEquals(expected, found);
  }

  private static void writeNumbers(Path input, int batch, Map<Long, Long> expected)
      throws IOException {
    List<String> lines = new ArrayList<>();
    for (long i = 0; i < 300; i++) {
      long key = i % (10 + batch);
      expected.merge(key, 1L, Long::sum);
      lines.add("{\"k\": " + key + "}");
    }
    Files.write(input.resolve("part-" + batch + ".json"), lines);
  }

  /** Runs a job, again as long as one executor happens to do all the work. */
  private static void assertOneSided(Runnable job) {
    PluginTotals before = cluster.totals();
    Decommission.await(
        "one executor does all the work",
        () -> {
          job.run();
          return cluster.totals().since(before).allBytes() > 0;
        });
    PluginTotals read = cluster.totals().since(before);
    assertTrue(read.bytes("shm") > 0, () -> PluginApp.summary(read));
    assertEquals(0, read.bytes("tcp"), () -> PluginApp.summary(read));
  }

  private static JavaPairRDD<Integer, Integer> pairs() {
    return cluster
        .java()
        .parallelize(IntStream.range(0, RECORDS).boxed().toList(), 4)
        .mapToPair(i -> new Tuple2<>(i % KEYS, i));
  }

  private static Map<Integer, Long> expected() {
    Map<Integer, Long> counts = new HashMap<>();
    for (int i = 0; i < RECORDS; i++) {
      counts.merge(i % KEYS, 1L, Long::sum);
    }
    return counts;
  }

  private static Map<Integer, Long> counts(JavaPairRDD<Integer, Integer> moved) {
    Map<Integer, Long> counts = new HashMap<>();
    moved.keys().collect().forEach(key -> counts.merge(key, 1L, Long::sum));
    return counts;
  }

  private static int outputsInMemory() {
    return cluster
        .java()
        .parallelize(List.of(1, 2, 3, 4), 4)
        .map(
            task -> {
              TimeUnit.MILLISECONDS.sleep(100); // the other executor gets some, too
              return ExecutorSide.store().outputCount();
            })
        .collect()
        .stream()
        .mapToInt(Integer::intValue)
        .sum();
  }

  /** Both tasks run at once, or this never ends. */
  private static final class AwaitAllTasks
      extends AbstractFunction1<
          Iterator<Tuple2<Integer, Integer>>, Iterator<Tuple2<Integer, Integer>>>
      implements Serializable {
    private static final long serialVersionUID = 1;

    @Override
    public Iterator<Tuple2<Integer, Integer>> apply(Iterator<Tuple2<Integer, Integer>> records) {
      BarrierTaskContext.get().barrier();
      return records;
    }
  }

  private static final class FailingPartitioner extends Partitioner {
    private static final long serialVersionUID = 1;

    @Override
    public int numPartitions() {
      return 4;
    }

    @Override
    public int getPartition(Object key) {
      if ((Integer) key == KEYS - 1) {
        throw new IllegalArgumentException("no partition for " + key);
      }
      return (Integer) key % 4;
    }
  }
}
