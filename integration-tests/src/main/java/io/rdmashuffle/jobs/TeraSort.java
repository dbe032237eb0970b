package io.rdmashuffle.jobs;

import java.io.Serializable;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.apache.spark.Partitioner;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;
import scala.Tuple2;

/** Sorts generated records of 100 bytes by their first 10: the classic sort benchmark. */
public final class TeraSort implements Job {
  private static final long serialVersionUID = 1;
  private static final int KEY_BYTES = 10;
  private static final int VALUE_BYTES = 90;
  private static final int NUMBER_DIGITS = 16;
  private static final long BYTES_PER_PARTITION = 32L << 20;

  @Override
  public String name() {
    return "sort";
  }

  @Override
  public String describe(JobInput input) {
    return "sort of %,d generated records of 100 bytes".formatted(recordCount(input));
  }

  @Override
  public ResultDigest run(SparkSession spark, JobInput input) {
    long records = recordCount(input);
    int partitions = (int) Math.max(2, input.sortBytes() / BYTES_PER_PARTITION);
    List<Integer> seeds = IntStream.range(0, partitions).boxed().toList();
    JavaPairRDD<byte[], byte[]> unsorted =
        JavaSparkContext.fromSparkContext(spark.sparkContext())
            .parallelize(seeds, partitions)
            .flatMapToPair(
                part ->
                    generate(part, records * part / partitions, records * (part + 1) / partitions));
    JavaPairRDD<byte[], byte[]> sorted =
        unsorted.repartitionAndSortWithinPartitions(new KeyRanges(partitions), new UnsignedOrder());
    return ResultDigest.ordered(
        JavaRDD.fromRDD(sorted.rdd(), sorted.classTag())
            .mapPartitionsWithIndex(TeraSort::check, true)
            .collect()
            .stream()
            .map(PartDigest::fromLongs)
            .toList());
  }

  private static Iterator<Tuple2<byte[], byte[]>> generate(int part, long from, long to) {
    SplittableRandom random = new SplittableRandom(part);
    return new Iterator<>() {
      private long next = from;

      @Override
      public boolean hasNext() {
        return next < to;
      }

      @Override
      public Tuple2<byte[], byte[]> next() {
        byte[] key = new byte[KEY_BYTES];
        random.nextBytes(key);
        return new Tuple2<>(key, value(next++));
      }
    };
  }

  /** The record's number, then filler that compresses about as real rows do. */
  private static byte[] value(long number) {
    byte[] value = new byte[VALUE_BYTES];
    for (int i = 0; i < NUMBER_DIGITS; i++) {
      value[i] =
          (byte) Character.forDigit((int) (number >>> (4 * (NUMBER_DIGITS - 1 - i))) & 15, 16);
    }
    for (int i = NUMBER_DIGITS; i < VALUE_BYTES; i++) {
      value[i] = (byte) ('A' + (number + i / 8) % 26);
    }
    return value;
  }

  /** Takes the records into the digest and insists that they ascend. */
  private static Iterator<long[]> check(int part, Iterator<Tuple2<byte[], byte[]>> records) {
    RecordHash hash = new RecordHash(true);
    byte[] last = null;
    byte[] record = new byte[KEY_BYTES + VALUE_BYTES];
    while (records.hasNext()) {
      Tuple2<byte[], byte[]> next = records.next();
      byte[] key = next._1();
      if (last != null && Arrays.compareUnsigned(last, key) > 0) {
        throw new IllegalStateException(
            "partition %d: %s comes after %s"
                .formatted(part, Arrays.toString(key), Arrays.toString(last)));
      }
      last = key;
      System.arraycopy(key, 0, record, 0, KEY_BYTES);
      System.arraycopy(next._2(), 0, record, KEY_BYTES, VALUE_BYTES);
      hash.add(record);
    }
    return List.of(hash.toDigest(part).toLongs()).iterator();
  }

  private static long recordCount(JobInput input) {
    return input.sortBytes() / (KEY_BYTES + VALUE_BYTES);
  }

  private static final class UnsignedOrder implements Comparator<byte[]>, Serializable {
    private static final long serialVersionUID = 1;

    @Override
    public int compare(byte[] a, byte[] b) {
      return Arrays.compareUnsigned(a, b);
    }
  }

  /** Equal ranges of the first four bytes: keys are uniform, so no sampling is needed. */
  private static final class KeyRanges extends Partitioner {
    private static final long serialVersionUID = 1;
    private final int partitions;

    KeyRanges(int partitions) {
      this.partitions = partitions;
    }

    @Override
    public int numPartitions() {
      return partitions;
    }

    @Override
    public int getPartition(Object key) {
      long prefix = Integer.toUnsignedLong(ByteBuffer.wrap((byte[]) key).getInt());
      return (int) ((prefix * partitions) >>> 32);
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof KeyRanges that && that.partitions == partitions;
    }

    @Override
    public int hashCode() {
      return partitions;
    }
  }
}
