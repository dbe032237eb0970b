package io.rdmashuffle.jobs;

import java.nio.charset.StandardCharsets;
import java.util.stream.IntStream;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.functions;

/** Twenty sums per group with nearly as many groups as rows in each map task. */
public final class WideAggregation implements Job {
  private static final long serialVersionUID = 1;
  private static final int SUMS = 20;
  private static final int PARTITIONS = 16;
  private static final long ROWS_PER_LOAD = 2_000_000;

  @Override
  public String name() {
    return "aggregation";
  }

  @Override
  public String describe(JobInput input) {
    return "%d sums over %,d rows".formatted(SUMS, rows(input));
  }

  @Override
  public ResultDigest run(SparkSession spark, JobInput input) {
    spark.conf().set("spark.sql.shuffle.partitions", Integer.toString(PARTITIONS));
    Dataset<Row> source =
        spark
            .range(0, rows(input), 1, PARTITIONS)
            .withColumn("key", functions.expr("pmod(xxhash64(id), %d)".formatted(rows(input) / 4)));
    Column[] sums =
        IntStream.range(0, SUMS)
            .mapToObj(i -> functions.expr("sum(id %% %d)".formatted(1000 + i)))
            .toArray(Column[]::new);
    Dataset<Row> result = source.groupBy("key").agg(functions.count(functions.lit(1)), sums);
    return Digests.multiset(
        result.toJavaRDD(), row -> row.toString().getBytes(StandardCharsets.UTF_8));
  }

  private static long rows(JobInput input) {
    return (long) (ROWS_PER_LOAD * input.load());
  }
}
