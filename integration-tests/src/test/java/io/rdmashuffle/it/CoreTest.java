package io.rdmashuffle.it;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.harness.ClusterSpec;
import io.rdmashuffle.harness.LocalCluster;
import io.rdmashuffle.harness.PluginTotals;
import io.rdmashuffle.harness.ProcessCounts;
import io.rdmashuffle.harness.ShuffleMode;
import io.rdmashuffle.jobs.ResultDigest;
import io.rdmashuffle.spark.UnsafeRows;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.scheduler.AccumulableInfo;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.sql.execution.UnsafeRowSerializer;
import org.apache.spark.sql.functions;
import org.apache.spark.storage.StorageLevel;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import scala.Tuple2;
import scala.collection.Iterator;

/**
 * What must hold with every Spark, in two applications: one with the sort shuffle, which says what
 * is right, and one with the plugin. In this order, since an executor is lost near the end.
 */
@Tag("slow")
@Tag("core")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@ExpectedWarnings(ExpectedWarnings.LOST_EXECUTOR)
class CoreTest {
  private static final String SORT = "sortByKey";
  private static final String AGGREGATION = "reduceByKey";
  private static final String COMBINING = "groupByKey";
  private static final String ADAPTIVE_JOIN = "SQL join, AQE on";
  private static final String SKEWED_JOIN = "SQL skewed join, AQE on";
  private static final String LARGE_RECORD = "a record of 64 MB";
  private static final List<String> OPERATIONS =
      List.of(SORT, AGGREGATION, COMBINING, ADAPTIVE_JOIN, SKEWED_JOIN, LARGE_RECORD);

  private static final long ROWS = 10_000;
  private static final int LARGE_MAPS = 3;
  // 4 MB for each of the reducers, which is more than is read at once.
  private static final int LARGE_ROWS = 8_000;
  private static final int LARGE_REDUCERS = 2;

  private final Map<String, ResultDigest> expected = new HashMap<>();
  private ResultDigest expectedLarge;
  private long expectedRowBytes;
  private LocalCluster cluster;

  @BeforeAll
  void start() {
    try (LocalCluster sort = LocalCluster.start(spec("core-sort", ShuffleMode.SORT))) {
      for (String name : OPERATIONS) {
        expected.put(name, Operations.named(name).run(sort.spark()));
      }
      expectedLarge = PluginApp.digest(largeBlocks(sort));
      expectedRowBytes = bytesOfRows(sort);
    }
    cluster = LocalCluster.start(spec("core-plugin", ShuffleMode.PLUGIN));
  }

  private static ClusterSpec spec(String name, ShuffleMode mode) {
    return ClusterSpec.forTests(name, mode).with("spark.kryoserializer.buffer.max", "256m");
  }

  @AfterAll
  void stop() {
    if (cluster != null) {
      cluster.close();
    }
  }

  @Test
  @Order(1)
  @Feature("RDD: sort")
  void sortsAsTheSortShuffle() {
    assertSameAsSort(SORT);
  }

  @Test
  @Order(2)
  @Feature("RDD: aggregation with and without combining in map tasks")
  void aggregatesAsTheSortShuffle() {
    assertSameAsSort(AGGREGATION);
    assertSameAsSort(COMBINING);
  }

  @Test
  @Order(3)
  @Feature("SQL: join with adaptive execution")
  void joinsAsTheSortShuffleWithAdaptiveExecution() {
    assertSameAsSort(ADAPTIVE_JOIN);
  }

  @Test
  @Order(4)
  @Feature("SQL: skewed join that adaptive execution splits")
  void splitsSkewedJoinsAsTheSortShuffle() {
    assertSameAsSort(SKEWED_JOIN);
  }

  @Test
  @Order(5)
  @Feature("SQL: bytes of rows that exchanges report")
  void countsTheBytesOfRowsAsTheSortShuffle() {
    assertNotNull(
        UnsafeRows.of(new UnsafeRowSerializer(1, null)),
        "Spark SQL's serializer is not known, so that its own streams are used");
    assertEquals(expectedRowBytes, bytesOfRows(cluster));
    assertTrue(expectedRowBytes > 0);
  }

  @Test
  @Order(6)
  @Feature("Sizes: a record of 64 MB")
  void movesALargeRecordAsTheSortShuffle() {
    assertSameAsSort(LARGE_RECORD);
  }

  @Test
  @Order(7)
  @Feature("RDD: cached data from large blocks")
  void cachesWhatItReadFromLargeBlocks() {
    JavaPairRDD<Integer, byte[]> cached =
        largeBlocks(cluster).persist(StorageLevel.MEMORY_AND_DISK());
    assertEquals(expectedLarge, PluginApp.digest(cached));
    long readOnce = cluster.totals().allBytes();
    assertEquals(expectedLarge, PluginApp.digest(cached));
    assertEquals(readOnce, cluster.totals().allBytes(), "bytes read after the second use");
    cached.unpersist(true);
  }

  @Test
  @Order(8)
  @Feature("Transport: every remote byte is read one-sided")
  void everyRemoteByteCameOneSided() {
    PluginTotals totals = cluster.totals();
    assertAll(
        () -> assertEquals(cluster.metrics().remoteBytes(), totals.allBytes(), "all bytes"),
        () -> assertTrue(totals.bytes("shm") > 0, () -> PluginApp.summary(totals)),
        () -> assertEquals(0, totals.bytes("tcp"), () -> PluginApp.summary(totals)));
  }

  @Test
  @Order(9)
  @Feature("Recovery: an executor is lost with its map outputs")
  void recoversWhatALostExecutorHeld() {
    JavaPairRDD<Integer, byte[]> moved = largeBlocks(cluster);
    assertEquals(expectedLarge, PluginApp.digest(moved));
    long tasksBefore = cluster.metrics().tasks();
    cluster.executors().get(0).kill();
    assertEquals(expectedLarge, PluginApp.digest(moved));
    assertTrue(
        cluster.metrics().tasks() - tasksBefore > LARGE_REDUCERS, "no map task had to run again");
    cluster.awaitExecutors(2);
  }

  @Test
  @Order(10)
  @Feature("Resources: memory, threads and connections return to zero")
  void nothingIsLeftAfterStop() throws InterruptedException {
    assertEquals(List.of("", ""), LeftoverTest.leftInExecutorsAfterStop(cluster));
    cluster.close();
    cluster = null;
    ProcessCounts left = LeftoverTest.afterAWhile();
    assertTrue(left.none(), left::toString);
    assertEquals(List.of(), ProcessCounts.slabFilesIn(Path.of("/dev/shm")));
  }

  /** What two exchanges add to the metric that Spark shows as their data size. */
  private static long bytesOfRows(LocalCluster cluster) {
    AtomicLong bytes = new AtomicLong();
    SparkListener listener =
        new SparkListener() {
          @Override
          public void onStageCompleted(SparkListenerStageCompleted completed) {
            Iterator<Tuple2<Object, AccumulableInfo>> all =
                completed.stageInfo().accumulables().iterator();
            while (all.hasNext()) {
              AccumulableInfo info = all.next()._2();
              if (info.name().contains("data size")) {
                bytes.addAndGet(((Number) info.value().get()).longValue());
              }
            }
          }
        };
    cluster.context().addSparkListener(listener);
    cluster.spark().range(0, ROWS, 1, LARGE_MAPS).repartition(functions.col("id")).count();
    cluster.metrics(); // when all listeners have heard of it
    cluster.context().removeSparkListener(listener);
    return bytes.get();
  }

  private static JavaPairRDD<Integer, byte[]> largeBlocks(LocalCluster cluster) {
    return PluginApp.moved(cluster, LARGE_MAPS, LARGE_REDUCERS, LARGE_ROWS);
  }

  private void assertSameAsSort(String name) {
    ResultDigest result = Operations.named(name).run(cluster.spark());
    assertEquals(Optional.empty(), result.differenceFrom(expected.get(name)), name);
  }
}
