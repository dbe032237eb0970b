package io.rdmashuffle.it;

import io.rdmashuffle.harness.ClusterSpec;
import io.rdmashuffle.harness.LocalCluster;
import io.rdmashuffle.harness.PluginTotals;
import io.rdmashuffle.harness.ShuffleMode;
import io.rdmashuffle.jobs.Digests;
import io.rdmashuffle.jobs.ResultDigest;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.apache.spark.HashPartitioner;
import org.apache.spark.api.java.JavaPairRDD;
import scala.Tuple2;

/** A plugin application of one test, and the job most tests use. */
public final class PluginApp {
  private static final int ROW_BYTES = 1000;

  private PluginApp() {}

  /** Two executors with the plugin and more settings. */
  public static LocalCluster start(String name, Map<String, String> settings) {
    return LocalCluster.start(ClusterSpec.forTests(name, ShuffleMode.PLUGIN).with(settings));
  }

  /** Rows that do not compress, moved between the given numbers of tasks. */
  public static JavaPairRDD<Integer, byte[]> moved(
      LocalCluster cluster, int maps, int reducers, int rowsPerMap) {
    List<Integer> seeds = IntStream.range(0, maps).boxed().toList();
    return cluster
        .java()
        .parallelize(seeds, maps)
        .flatMapToPair(
            seed -> {
              SplittableRandom random = new SplittableRandom(seed);
              return IntStream.range(0, rowsPerMap)
                  .mapToObj(
                      i -> {
                        byte[] row = new byte[ROW_BYTES];
                        random.nextBytes(row);
                        return new Tuple2<>(random.nextInt(1 << 20), row);
                      })
                  .iterator();
            })
        .partitionBy(new HashPartitioner(reducers));
  }

  /** Of what {@link #moved} gives. */
  public static ResultDigest digest(JavaPairRDD<Integer, byte[]> rows) {
    return Digests.multiset(rows.values(), row -> row);
  }

  /** What {@link #moved} must hold, computed without a shuffle. */
  public static ResultDigest expected(LocalCluster cluster, int maps, int rowsPerMap) {
    List<Integer> seeds = IntStream.range(0, maps).boxed().toList();
    return Digests.multiset(
        cluster
            .java()
            .parallelize(seeds, maps)
            .flatMap(
                seed -> {
                  SplittableRandom random = new SplittableRandom(seed);
                  return IntStream.range(0, rowsPerMap)
                      .mapToObj(
                          i -> {
                            byte[] row = new byte[ROW_BYTES];
                            random.nextBytes(row);
                            random.nextInt(1 << 20);
                            return row;
                          })
                      .iterator();
                }),
        row -> row);
  }

  /** For messages. */
  public static String summary(PluginTotals totals) {
    return "bytes %s, fallbacks %s".formatted(totals.bytes(), totals.fallbacks());
  }
}
