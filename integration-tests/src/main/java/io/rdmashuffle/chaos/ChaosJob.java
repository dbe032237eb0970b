package io.rdmashuffle.chaos;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.expr;

import io.rdmashuffle.jobs.Digests;
import io.rdmashuffle.jobs.ResultDigest;
import java.io.Serializable;
import java.nio.ByteBuffer;
import java.util.Iterator;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.spark.HashPartitioner;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;
import scala.Tuple2;

/**
 * A job of a round: always the same result, whichever shuffle carries it and whatever is done to
 * it.
 *
 * @param rows of each map task, of up to a kilobyte
 * @param pauseMs for which each reduce task waits now and then, so that there is something to hit
 */
public record ChaosJob(
    Operation operation, long seed, int maps, int reducers, int rows, int pauseMs)
    implements Serializable {
  private static final int MAX_ROW_BYTES = 1_000;
  private static final int KEYS = 5_000;
  private static final int PAUSES = 8;

  /** What it does with the rows. */
  public enum Operation {
    REPARTITION,
    SORT,
    COMBINE,
    JOIN,
    AGGREGATE
  }

  /** Runs it. */
  ResultDigest run(SparkSession spark) {
    return switch (operation) {
      case REPARTITION ->
          Digests.multiset(paused(rows(spark, 0).partitionBy(partitioner())), ChaosJob::bytes);
      case SORT ->
          Digests.multiset(paused(rows(spark, 0).sortByKey(true, reducers)), ChaosJob::bytes);
      case COMBINE ->
          Digests.multiset(
              paused(rows(spark, 0).mapValues(row -> sum(row)).reduceByKey(Long::sum, reducers)),
              pair -> longs(pair._1(), pair._2()));
      case JOIN ->
          Digests.multiset(
              paused(
                  rows(spark, 0)
                      .mapValues(row -> sum(row))
                      .join(rows(spark, 1).mapValues(row -> sum(row)), partitioner())),
              pair -> longs(pair._1(), pair._2()._1() * 31 + pair._2()._2()));
      case AGGREGATE -> aggregate(spark);
    };
  }

  private ResultDigest aggregate(SparkSession spark) {
    return Digests.multiset(
        spark
            .range(0, (long) maps * rows, 1, maps)
            .selectExpr("id % " + KEYS + " AS k", "repeat(cast(id AS string), 20) AS s")
            .repartition(reducers, col("k"))
            .groupBy("k")
            .agg(expr("sum(crc32(s)) AS total"))
            .toJavaRDD(),
        row -> longs(row.getLong(0), row.getLong(1)));
  }

  private JavaPairRDD<Integer, byte[]> rows(SparkSession spark, int side) {
    int count = rows;
    long base = seed * 31 + side;
    return JavaSparkContext.fromSparkContext(spark.sparkContext())
        .parallelize(IntStream.range(0, maps).boxed().toList(), maps)
        .flatMapToPair(map -> generate(new SplittableRandom(base * 1_000 + map), count));
  }

  private static Iterator<Tuple2<Integer, byte[]>> generate(SplittableRandom random, int count) {
    return IntStream.range(0, count)
        .mapToObj(
            i -> {
              byte[] row = new byte[random.nextInt(MAX_ROW_BYTES)];
              random.nextBytes(row);
              return new Tuple2<>(random.nextInt(KEYS), row);
            })
        .iterator();
  }

  private HashPartitioner partitioner() {
    return new HashPartitioner(reducers);
  }

  private <V> JavaRDD<Tuple2<Integer, V>> paused(JavaPairRDD<Integer, V> read) {
    int every = Math.max(1, rows / PAUSES);
    int pause = pauseMs;
    return read.mapPartitions(part -> new PausedIterator<>(part, every, pause), true);
  }

  private static long sum(byte[] row) {
    long sum = row.length;
    for (byte b : row) {
      sum = sum * 31 + b;
    }
    return sum;
  }

  private static byte[] bytes(Tuple2<Integer, byte[]> pair) {
    return ByteBuffer.allocate(Integer.BYTES + pair._2().length)
        .putInt(pair._1())
        .put(pair._2())
        .array();
  }

  private static byte[] longs(long first, long second) {
    return ByteBuffer.allocate(2 * Long.BYTES).putLong(first).putLong(second).array();
  }

  @Override
  public String toString() {
    return "%s of %d x %d rows into %d"
        .formatted(operation.name().toLowerCase(Locale.ROOT), maps, rows, reducers);
  }

  /** Waits now and then. */
  private static final class PausedIterator<T> implements Iterator<T> {
    private final Iterator<T> rows;
    private final int every;
    private final int pauseMs;
    private long seen;

    PausedIterator(Iterator<T> rows, int every, int pauseMs) {
      this.rows = rows;
      this.every = every;
      this.pauseMs = pauseMs;
    }

    @Override
    public boolean hasNext() {
      return rows.hasNext();
    }

    @Override
    public T next() {
      if (++seen % every == 0) {
        try {
          TimeUnit.MILLISECONDS.sleep(pauseMs);
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
        }
      }
      return rows.next();
    }
  }
}
