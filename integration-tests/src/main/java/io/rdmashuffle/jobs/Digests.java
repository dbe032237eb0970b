package io.rdmashuffle.jobs;

import java.util.List;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.function.Function;

/** Computes digests where the data is. */
public final class Digests {
  private Digests() {}

  /** Of a result whose order is defined. */
  public static <T> ResultDigest ordered(JavaRDD<T> rdd, Function<T, byte[]> bytes) {
    return ResultDigest.ordered(parts(rdd, bytes, true));
  }

  /** Of a result without order. */
  public static <T> ResultDigest multiset(JavaRDD<T> rdd, Function<T, byte[]> bytes) {
    return ResultDigest.multiset(parts(rdd, bytes, false));
  }

  private static <T> List<PartDigest> parts(
      JavaRDD<T> rdd, Function<T, byte[]> bytes, boolean ordered) {
    return rdd
        .mapPartitionsWithIndex(
            (index, records) -> {
              RecordHash hash = new RecordHash(ordered);
              while (records.hasNext()) {
                hash.add(bytes.call(records.next()));
              }
              return List.of(hash.toDigest(index).toLongs()).iterator();
            },
            true)
        .collect()
        .stream()
        .map(PartDigest::fromLongs)
        .toList();
  }
}
