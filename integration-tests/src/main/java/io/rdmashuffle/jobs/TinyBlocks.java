package io.rdmashuffle.jobs;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.apache.spark.HashPartitioner;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;
import scala.Tuple2;

/** Many maps times many reducers: half a million blocks of a few records each. */
public final class TinyBlocks implements Job {
  private static final long serialVersionUID = 1;
  private static final int REDUCERS = 1000;
  private static final int MAPS_PER_LOAD = 500;
  private static final int RECORDS_PER_BLOCK = 4;

  @Override
  public String name() {
    return "tinyblocks";
  }

  @Override
  public String describe(JobInput input) {
    return "%,d maps × %,d reducers of tiny blocks".formatted(maps(input), REDUCERS);
  }

  @Override
  public ResultDigest run(SparkSession spark, JobInput input) {
    List<Integer> seeds = IntStream.range(0, maps(input)).boxed().toList();
    JavaPairRDD<Long, Long> records =
        JavaSparkContext.fromSparkContext(spark.sparkContext())
            .parallelize(seeds, seeds.size())
            .flatMapToPair(
                seed -> {
                  SplittableRandom random = new SplittableRandom(seed);
                  return IntStream.range(0, REDUCERS * RECORDS_PER_BLOCK)
                      .mapToObj(i -> new Tuple2<>((long) i, random.nextLong()))
                      .iterator();
                })
            .partitionBy(new HashPartitioner(REDUCERS));
    return Digests.multiset(
        records.map(pair -> pair),
        pair -> ByteBuffer.allocate(16).putLong(pair._1()).putLong(pair._2()).array());
  }

  private static int maps(JobInput input) {
    return (int) Math.max(2, MAPS_PER_LOAD * input.load());
  }
}
