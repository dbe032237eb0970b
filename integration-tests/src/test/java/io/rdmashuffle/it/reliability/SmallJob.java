package io.rdmashuffle.it.reliability;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.rdmashuffle.harness.LocalCluster;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.HashPartitioner;
import org.apache.spark.SparkException;
import org.apache.spark.api.java.JavaPairRDD;
import scala.Tuple2;

/** A job of a few dozen records that takes a fraction of a second, and ends well or not. */
enum SmallJob {
  REPARTITION,
  COMBINE,
  FAILS_WHILE_READING,
  FAILS_WHILE_WRITING;

  private static final int TASKS = 2;
  private static final int RECORDS = 50;
  // One job in so many fails, each way.
  private static final int RARE = 20;

  /** The kind of the nth job. */
  static SmallJob of(int number) {
    return switch (number % RARE) {
      case RARE - 1 -> FAILS_WHILE_READING;
      case RARE - 2 -> FAILS_WHILE_WRITING;
      default -> number % 2 == 0 ? REPARTITION : COMBINE;
    };
  }

  /** Runs it and checks its result; whether it ended well. */
  boolean run(LocalCluster cluster) {
    JavaPairRDD<Integer, Integer> written =
        cluster
            .java()
            .parallelize(List.of(0, 1), TASKS)
            .flatMapToPair(
                map ->
                    IntStream.range(0, RECORDS)
                        .mapToObj(i -> record(this == FAILS_WHILE_WRITING, map, i))
                        .iterator());
    try {
      long count =
          this == COMBINE
              ? written.reduceByKey(Integer::sum, TASKS).count() * TASKS
              : written.partitionBy(new HashPartitioner(TASKS)).filter(this::isRead).count();
      assertEquals(TASKS * RECORDS, count, name());
      return true;
    } catch (Exception e) { // Scala throws SparkException undeclared
      if (e instanceof SparkException && isToFail()) {
        return false;
      }
      throw new AssertionError(name(), e);
    }
  }

  private boolean isToFail() {
    return this == FAILS_WHILE_READING || this == FAILS_WHILE_WRITING;
  }

  private static Tuple2<Integer, Integer> record(boolean fails, int map, int number) {
    if (fails && number == RECORDS / 2) {
      throw new IllegalStateException("this task is meant to fail while it writes");
    }
    return new Tuple2<>(number, map);
  }

  private boolean isRead(Tuple2<Integer, Integer> record) {
    if (this == FAILS_WHILE_READING && record._1() > RECORDS / 2) {
      throw new IllegalStateException("this task is meant to fail while it reads");
    }
    return true;
  }
}
