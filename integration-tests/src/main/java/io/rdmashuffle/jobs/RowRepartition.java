package io.rdmashuffle.jobs;

import java.util.Iterator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.functions;

/** Moves rows of 1 KB that hardly compress: almost nothing but shuffle. */
public final class RowRepartition implements Job {
  private static final long serialVersionUID = 1;
  private static final int PARTITIONS = 16;
  private static final int ROW_BYTES = 1024;
  private static final long ROWS_PER_LOAD = 400_000;

  @Override
  public String name() {
    return "repartition";
  }

  @Override
  public String describe(JobInput input) {
    return "repartition of %,d rows of 1 KB".formatted(rows(input));
  }

  @Override
  public ResultDigest run(SparkSession spark, JobInput input) {
    long perPartition = rows(input) / PARTITIONS;
    List<Integer> parts = IntStream.range(0, PARTITIONS).boxed().toList();
    JavaRDD<byte[]> rows =
        JavaSparkContext.fromSparkContext(spark.sparkContext())
            .parallelize(parts, PARTITIONS)
            .flatMap(part -> generate(part, perPartition));
    Dataset<byte[]> moved =
        spark
            .createDataset(rows.rdd(), Encoders.BINARY())
            .repartition(PARTITIONS, functions.col("value"));
    return Digests.multiset(moved.toJavaRDD(), bytes -> bytes);
  }

  private static long rows(JobInput input) {
    return (long) (ROWS_PER_LOAD * input.load());
  }

  private static Iterator<byte[]> generate(int part, long count) {
    SplittableRandom random = new SplittableRandom(part);
    return LongStream.range(0, count)
        .mapToObj(
            i -> {
              byte[] row = new byte[ROW_BYTES];
              random.nextBytes(row);
              return row;
            })
        .iterator();
  }
}
