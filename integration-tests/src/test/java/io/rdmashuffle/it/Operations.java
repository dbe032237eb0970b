package io.rdmashuffle.it;

import io.rdmashuffle.jobs.Digests;
import io.rdmashuffle.jobs.ResultDigest;
import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.apache.spark.HashPartitioner;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.rdd.ShuffledRDD;
import org.apache.spark.serializer.JavaSerializer;
import org.apache.spark.serializer.KryoSerializer;
import org.apache.spark.serializer.Serializer;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.functions;
import scala.Tuple2;
import scala.reflect.ClassTag$;

/** The operations and shapes whose results must not depend on the shuffle. */
final class Operations {
  private static final int RECORDS = 40_000;
  private static final int MAPS = 6;
  private static final int REDUCERS = 5;
  private static final int LARGE_RECORD = 64 << 20;

  private Operations() {}

  /** Every kind of operation, small. */
  static List<Operation> kinds() {
    List<Operation> all = new ArrayList<>();
    all.add(Operation.rdd("reduceByKey", s -> text(pairs(s).reduceByKey(Long::sum, REDUCERS))));
    all.add(Operation.rdd("groupByKey", Operations::groupByKey));
    all.add(Operation.rdd("sortByKey", Operations::sortByKey));
    all.add(Operation.rdd("join", Operations::join));
    all.add(Operation.rdd("repartition", s -> strings(lines(s).repartition(7))));
    all.add(Operation.rdd("repartitionAndSortWithinPartitions", Operations::sortWithin));
    all.add(Operation.rdd("partitionBy, Java serializer", s -> with(s, false)));
    all.add(Operation.rdd("partitionBy, Kryo serializer", s -> with(s, true)));
    all.add(Operation.rdd("bypass writer", Operations::bypass));
    all.add(Operation.rdd("empty partitions", Operations::emptyPartitions));
    all.add(Operation.rdd("nothing at all", Operations::nothing));
    all.add(Operation.rdd("one partition", s -> text(pairs(s).reduceByKey(Long::sum, 1))));
    all.add(Operation.rdd("one record", Operations::oneRecord));
    for (boolean adaptive : new boolean[] {true, false}) {
      all.add(Operation.sql("SQL aggregation", adaptive, Operations::sqlAggregation));
      all.add(Operation.sql("SQL join", adaptive, Operations::sqlJoin));
      all.add(Operation.sql("SQL skewed join", adaptive, Operations::sqlSkewedJoin));
      all.add(Operation.sql("SQL sort", adaptive, Operations::sqlSort));
    }
    return all;
  }

  /** Shapes that stress sizes and counts. */
  static List<Operation> shapes() {
    return List.of(
        Operation.rdd("a record of 64 MB", Operations::largeRecord),
        Operation.rdd("1 map × 2000 reducers", s -> grid(s, 1, 2000, 40_000)),
        Operation.rdd("500 maps × 50 reducers", s -> grid(s, 500, 50, 200)));
  }

  /** One of {@link #kinds} or {@link #shapes}. */
  static Operation named(String name) {
    return Stream.concat(kinds().stream(), shapes().stream())
        .filter(operation -> operation.name().equals(name))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("no operation " + name));
  }

  private static JavaSparkContext context(SparkSession spark) {
    return JavaSparkContext.fromSparkContext(spark.sparkContext());
  }

  private static List<Tuple2<String, Long>> sample() {
    SplittableRandom random = new SplittableRandom(42);
    List<Tuple2<String, Long>> sample = new ArrayList<>(RECORDS);
    for (int i = 0; i < RECORDS; i++) {
      sample.add(new Tuple2<>("key-" + random.nextInt(3_000), random.nextLong(1_000_000)));
    }
    return sample;
  }

  private static JavaPairRDD<String, Long> pairs(SparkSession spark) {
    return context(spark).parallelizePairs(sample(), MAPS);
  }

  private static JavaRDD<String> lines(SparkSession spark) {
    return pairs(spark).map(pair -> pair._1() + '=' + pair._2());
  }

  private static ResultDigest strings(JavaRDD<String> rdd) {
    return Digests.multiset(rdd, line -> line.getBytes(StandardCharsets.UTF_8));
  }

  private static ResultDigest ordered(JavaRDD<String> rdd) {
    return Digests.ordered(rdd, line -> line.getBytes(StandardCharsets.UTF_8));
  }

  private static <V> ResultDigest text(JavaPairRDD<String, V> pairs) {
    return strings(pairs.map(pair -> pair._1() + '=' + pair._2()));
  }

  private static ResultDigest groupByKey(SparkSession spark) {
    // Values of a key have no order of their own.
    return text(
        pairs(spark)
            .groupByKey(REDUCERS)
            .mapValues(
                values ->
                    StreamSupport.stream(values.spliterator(), false)
                        .sorted()
                        .toList()
                        .toString()));
  }

  private static ResultDigest sortByKey(SparkSession spark) {
    JavaPairRDD<String, Long> distinct = pairs(spark).reduceByKey(Long::sum, REDUCERS);
    // Bounds come from a sample and so do partitions; one after the other they are the whole order.
    return ordered(
        distinct
            .sortByKey(true, REDUCERS)
            .map(pair -> pair._1() + '=' + pair._2())
            .coalesce(1, false));
  }

  private static ResultDigest join(SparkSession spark) {
    JavaPairRDD<String, Long> totals = pairs(spark).reduceByKey(Long::sum, REDUCERS + 1);
    return text(pairs(spark).join(totals, REDUCERS));
  }

  private static ResultDigest sortWithin(SparkSession spark) {
    return ordered(
        lines(spark)
            .distinct(REDUCERS)
            .mapToPair(line -> new Tuple2<>(line, 1))
            .repartitionAndSortWithinPartitions(new HashPartitioner(REDUCERS), new Backwards())
            .map(Tuple2::_1));
  }

  private static ResultDigest with(SparkSession spark, boolean kryo) {
    Serializer serializer =
        kryo
            ? new KryoSerializer(spark.sparkContext().getConf())
            : new JavaSerializer(spark.sparkContext().getConf());
    JavaPairRDD<String, Long> pairs = pairs(spark);
    ShuffledRDD<String, Long, Long> moved =
        new ShuffledRDD<String, Long, Long>(
                pairs.rdd(),
                // More partitions than the bypass writer takes, so that each serializer meets the
                // writer Spark has for it.
                new HashPartitioner(300),
                ClassTag$.MODULE$.apply(String.class),
                ClassTag$.MODULE$.apply(Long.class),
                ClassTag$.MODULE$.apply(Long.class))
            .setSerializer(serializer);
    return text(
        JavaPairRDD.fromRDD(
            moved, ClassTag$.MODULE$.apply(String.class), ClassTag$.MODULE$.apply(Long.class)));
  }

  private static ResultDigest bypass(SparkSession spark) {
    return text(pairs(spark).partitionBy(new HashPartitioner(20)));
  }

  private static ResultDigest emptyPartitions(SparkSession spark) {
    // Two keys for fifty reducers, and maps without a single record.
    return text(
        pairs(spark)
            .repartition(12)
            .mapPartitionsToPair(
                records -> {
                  List<Tuple2<String, Long>> kept = new ArrayList<>();
                  records.forEachRemaining(
                      pair -> {
                        if (pair._1().endsWith("00")) {
                          kept.add(new Tuple2<>(pair._1().substring(0, 5), pair._2()));
                        }
                      });
                  return kept.iterator();
                })
            .groupByKey(50)
            .mapValues(
                values ->
                    StreamSupport.stream(values.spliterator(), false)
                        .sorted()
                        .toList()
                        .toString()));
  }

  private static ResultDigest nothing(SparkSession spark) {
    return text(pairs(spark).filter(pair -> false).groupByKey(REDUCERS).mapValues(v -> 0));
  }

  private static ResultDigest oneRecord(SparkSession spark) {
    JavaPairRDD<String, Long> one =
        context(spark).parallelizePairs(List.of(new Tuple2<>("only", 1L)), 1);
    return text(one.partitionBy(new HashPartitioner(2)));
  }

  private static ResultDigest largeRecord(SparkSession spark) {
    JavaPairRDD<Integer, byte[]> records =
        context(spark)
            .parallelize(List.of(1, 2), 2)
            .mapToPair(
                seed -> {
                  byte[] record = new byte[LARGE_RECORD];
                  new SplittableRandom(seed).nextBytes(record);
                  return new Tuple2<>(seed, record);
                });
    // Each reducer gets the record of the map task that ran elsewhere, whichever that is, in one of
    // the two rounds.
    JavaPairRDD<Integer, byte[]> moved =
        records
            .partitionBy(new HashPartitioner(2))
            .mapToPair(pair -> new Tuple2<>(pair._1() + 1, pair._2()))
            .partitionBy(new HashPartitioner(2));
    return Digests.multiset(moved.values(), bytes -> bytes);
  }

  private static ResultDigest grid(SparkSession spark, int maps, int reducers, int perMap) {
    List<Integer> seeds = IntStream.range(0, maps).boxed().toList();
    JavaPairRDD<String, Long> records =
        context(spark)
            .parallelize(seeds, maps)
            .flatMapToPair(
                seed -> {
                  SplittableRandom random = new SplittableRandom(seed);
                  return IntStream.range(0, perMap)
                      .mapToObj(i -> new Tuple2<>(Long.toHexString(random.nextLong()), (long) i))
                      .iterator();
                });
    return text(records.partitionBy(new HashPartitioner(reducers)));
  }

  private static Dataset<Row> table(SparkSession spark) {
    spark.conf().set("spark.sql.shuffle.partitions", "8");
    spark.conf().set("spark.sql.autoBroadcastJoinThreshold", "-1");
    return spark
        .range(0, RECORDS, 1, MAPS)
        .selectExpr(
            "id",
            "pmod(xxhash64(id), 2000) AS k",
            "concat('name-', hex(xxhash64(id, 1))) AS name",
            "IF(id % 5 = 0, NULL, CAST(id AS decimal(18,2)) / 7) AS amount");
  }

  private static ResultDigest rows(Dataset<Row> rows) {
    // Not Row::toString, which Java cannot deserialize as a lambda.
    return strings(rows.toJavaRDD().map(row -> row.toString()));
  }

  private static ResultDigest sqlAggregation(SparkSession spark) {
    return rows(
        table(spark)
            .groupBy("k")
            .agg(
                functions.expr("count(DISTINCT name)"),
                functions.expr("sum(amount)"),
                functions.expr("max(name)")));
  }

  private static ResultDigest sqlJoin(SparkSession spark) {
    Dataset<Row> left = table(spark);
    Dataset<Row> right = table(spark).selectExpr("id * 3 AS id", "name AS other");
    return rows(left.join(right, "id"));
  }

  private static ResultDigest sqlSkewedJoin(SparkSession spark) {
    // Small enough a threshold that AQE splits the hot partition into ranges of map outputs.
    spark.conf().set("spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes", "64k");
    spark.conf().set("spark.sql.adaptive.advisoryPartitionSizeInBytes", "64k");
    Dataset<Row> left = table(spark).selectExpr("IF(id % 10 < 7, 1, k) AS k", "name", "amount");
    Dataset<Row> right = table(spark).selectExpr("id AS k", "name AS other").where("k < 2000");
    return rows(left.join(right.hint("shuffle_merge"), "k"));
  }

  private static ResultDigest sqlSort(SparkSession spark) {
    return ordered(
        context(spark)
            .parallelize(
                table(spark).orderBy("amount", "name").collectAsList().stream()
                    .map(Row::toString)
                    .toList(),
                1));
  }

  private static final class Backwards implements Comparator<String>, Serializable {
    private static final long serialVersionUID = 1;

    @Override
    public int compare(String a, String b) {
      return -Arrays.compare(
          a.getBytes(StandardCharsets.UTF_8), b.getBytes(StandardCharsets.UTF_8));
    }
  }
}
