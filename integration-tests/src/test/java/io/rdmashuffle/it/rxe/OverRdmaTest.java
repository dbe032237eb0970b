package io.rdmashuffle.it.rxe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.harness.ExecutorProcess;
import io.rdmashuffle.harness.LocalCluster;
import io.rdmashuffle.harness.PluginTotals;
import io.rdmashuffle.it.PluginApp;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.sql.Row;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;
import scala.Tuple2;

/** Jobs whose remote blocks all come by RDMA reads, and what is left when they are done. */
@Tag("rxe")
@Timeout(600)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class OverRdmaTest {
  private static final int MAPS = 4;
  private static final int REDUCERS = 4;
  private static final int RECORDS_PER_MAP = 4_000;
  private static final int LEFT = 8_000;
  private static final int LEFT_KEYS = 2_000;
  private static final int RIGHT = 4_000;
  private static final int RIGHT_KEYS = 3_000;
  private static final int IDS = 20_000;
  private static final int GROUPS = 997;

  private static LocalCluster cluster;

  @BeforeAll
  static void start() {
    cluster = RxeApp.start("rdma-jobs", 2, Map.of());
  }

  @AfterAll
  static void stop() {
    cluster.close();
  }

  @Test
  @Order(1)
  void aSort() {
    PluginTotals before = cluster.totals();
    List<String> sorted =
        cluster
            .java()
            .parallelize(seeds(), MAPS)
            .flatMap(OverRdmaTest::records)
            .sortBy(record -> record, true, REDUCERS)
            .collect();
    List<String> expected = new ArrayList<>();
    seeds().forEach(seed -> records(seed).forEachRemaining(expected::add));
    expected.sort(Comparator.naturalOrder());
    assertEquals(expected, sorted);
    assertAllByRdma(before);
  }

  @Test
  @Order(2)
  void aJoin() {
    PluginTotals before = cluster.totals();
    JavaPairRDD<Integer, Integer> left = pairs(LEFT, LEFT_KEYS);
    JavaPairRDD<Integer, Integer> right = pairs(RIGHT, RIGHT_KEYS);
    List<Tuple2<Integer, Tuple2<Integer, Integer>>> joined = left.join(right, REDUCERS).collect();
    Map<Integer, List<Integer>> rightByKey =
        IntStream.range(0, RIGHT).boxed().collect(Collectors.groupingBy(i -> i % RIGHT_KEYS));
    List<String> expected = new ArrayList<>();
    for (int i = 0; i < LEFT; i++) {
      int key = i % LEFT_KEYS;
      for (int match : rightByKey.getOrDefault(key, List.of())) {
        expected.add(key + ":" + i + "," + match);
      }
    }
    assertEquals(
        expected.stream().sorted().toList(),
        joined.stream()
            .map(row -> row._1() + ":" + row._2()._1() + "," + row._2()._2())
            .sorted()
            .toList());
    assertAllByRdma(before);
  }

  @Test
  @Order(3)
  void anAggregationInSql() {
    PluginTotals before = cluster.totals();
    cluster
        .spark()
        .range(0, IDS, 1, MAPS)
        .selectExpr("id % " + GROUPS + " AS k", "id")
        .createOrReplaceTempView("ids");
    List<Row> rows =
        cluster
            .spark()
            .sql("SELECT k, sum(id), count(DISTINCT id) FROM ids GROUP BY k")
            .collectAsList();
    Map<Long, String> expected = new HashMap<>();
    for (long key = 0; key < GROUPS; key++) {
      long sum = 0;
      long count = 0;
      for (long id = key; id < IDS; id += GROUPS) {
        sum += id;
        count++;
      }
      expected.put(key, sum + " of " + count);
    }
    assertEquals(
        expected,
        rows.stream()
            .collect(
                Collectors.toMap(
                    row -> row.getLong(0), row -> row.getLong(1) + " of " + row.getLong(2))));
    assertAllByRdma(before);
  }

  @Test
  @Order(4)
  void readsRegisterNothing() {
    Map<String, Long> before = movedOnce();
    Map<String, Long> after = movedOnce();
    assertTrue(after.get("rdma.reads") > before.get("rdma.reads"), after::toString);
    // Writers may have needed another slab; each is registered once.
    assertEquals(slabs(after) - slabs(before), registrations(after) - registrations(before));
    assertEquals(slabs(after), registrations(after), after::toString);
  }

  @Test
  @Order(5)
  void eachExecutorHasQueuePairsOfItsOwn() {
    List<ExecutorProcess> executors = cluster.executors();
    assertEquals(2, executors.size());
    for (ExecutorProcess executor : executors) {
      assertTrue(
          Rxe.connections(executor.pid()).findAny().isPresent(),
          () -> executor + " has none: " + Rxe.heldByProcesses("qp"));
    }
  }

  @Test
  @Order(6)
  void nothingIsLeftAfterTheStop() {
    RxeApp.stopAndFindNothingLeft(cluster);
  }

  private static void assertAllByRdma(PluginTotals before) {
    PluginTotals totals = cluster.totals();
    PluginTotals job = totals.since(before);
    assertTrue(job.bytes("rdma") > 0, () -> PluginApp.summary(job));
    assertEquals(cluster.metrics().remoteBytes(), totals.bytes("rdma"));
    assertEquals(0, totals.bytes("tcp"), () -> PluginApp.summary(totals));
    assertEquals(0, totals.bytes("shm"), () -> PluginApp.summary(totals));
    assertEquals(Map.of(), totals.fallbacks());
  }

  private static Map<String, Long> movedOnce() {
    assertEquals(
        PluginApp.expected(cluster, MAPS, 500),
        PluginApp.digest(PluginApp.moved(cluster, MAPS, REDUCERS, 500)));
    return new TreeMap<>(cluster.totals().gauges());
  }

  private static long slabs(Map<String, Long> gauges) {
    return (gauges.get("slabBytes") + gauges.get("receiveSlabBytes")) / RxeApp.SLAB_BYTES;
  }

  private static long registrations(Map<String, Long> gauges) {
    return gauges.get("rdma.registrations");
  }

  private static List<Integer> seeds() {
    return IntStream.range(0, MAPS).boxed().toList();
  }

  private static Iterator<String> records(int seed) {
    SplittableRandom random = new SplittableRandom(seed);
    return IntStream.range(0, RECORDS_PER_MAP)
        .mapToObj(
            i -> {
              StringBuilder record = new StringBuilder();
              for (int word = 0; word < 6; word++) {
                record.append(Long.toString(random.nextLong(), Character.MAX_RADIX));
              }
              return record.toString();
            })
        .iterator();
  }

  private static JavaPairRDD<Integer, Integer> pairs(int count, int keys) {
    return cluster
        .java()
        .parallelize(IntStream.range(0, count).boxed().toList(), MAPS)
        .mapToPair(i -> new Tuple2<>(i % keys, i));
  }
}
