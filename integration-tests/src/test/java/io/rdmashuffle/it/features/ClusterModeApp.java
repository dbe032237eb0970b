package io.rdmashuffle.it.features;

import io.rdmashuffle.ShuffleTotals;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.HashPartitioner;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import scala.Tuple2;

/**
 * An application as a user submits it: its driver finds everything in what it was submitted with.
 */
public final class ClusterModeApp {
  static final int KEYS = 1_000;
  private static final int TASKS = 6;
  private static final int MOST_TRIES = 20;

  private ClusterModeApp() {}

  /**
   * Groups numbers until tasks have read from another executor.
   *
   * @param args where to write how many keys came out, and what was read one-sided and by TCP
   */
  public static void main(String[] args) throws IOException, InterruptedException {
    try (JavaSparkContext context = new JavaSparkContext(new SparkConf())) {
      long keys = KEYS;
      ShuffleTotals totals = ShuffleTotals.of(context.sc());
      for (int i = 0; i < MOST_TRIES && keys == KEYS && totals.blocks("shm") == 0; i++) {
        keys = countKeys(context);
        Thread.sleep(500); // until executors have reported
        totals = ShuffleTotals.of(context.sc());
      }
      Path partial = Path.of(args[0] + ".part");
      Files.writeString(partial, report(keys, totals.blocks("shm") > 0, totals.blocks("tcp")));
      Files.move(partial, Path.of(args[0]), StandardCopyOption.ATOMIC_MOVE);
    }
  }

  static String report(long keys, boolean isOneSided, long tcpBlocks) {
    return "keys=" + keys + " one-sided=" + isOneSided + " tcp=" + tcpBlocks;
  }

  private static long countKeys(JavaSparkContext context) {
    List<Integer> numbers = IntStream.range(0, 10 * KEYS).boxed().toList();
    return context
        .parallelize(numbers, TASKS)
        .mapToPair(i -> new Tuple2<>(i % KEYS, i))
        .groupByKey(new HashPartitioner(TASKS))
        .count();
  }
}
