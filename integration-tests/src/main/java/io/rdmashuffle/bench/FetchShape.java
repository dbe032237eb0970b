package io.rdmashuffle.bench;

import io.rdmashuffle.harness.Lineage;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.apache.spark.HashPartitioner;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BlockManagerId;
import scala.Tuple2;
import scala.Tuple3;
import scala.collection.Iterator;

/** A shuffle with blocks of one size. */
record FetchShape(String name, int blockBytes, int maps, int reducers) {
  /** What the serializer adds to a record that is alone in its block. */
  private static final int OVERHEAD = 150;

  /** Runs the map side; every map writes one record for every reducer. */
  JavaPairRDD<Integer, byte[]> shuffle(JavaSparkContext java) {
    int length = blockBytes - OVERHEAD;
    int width = reducers;
    List<Integer> seeds = IntStream.range(0, maps).boxed().toList();
    JavaPairRDD<Integer, byte[]> shuffled =
        java.parallelize(seeds, maps)
            .flatMapToPair(
                seed -> {
                  SplittableRandom random = new SplittableRandom(seed);
                  return IntStream.range(0, width)
                      .mapToObj(
                          reducer -> {
                            byte[] value = new byte[length];
                            random.nextBytes(value);
                            return new Tuple2<>(reducer, value);
                          })
                      .iterator();
                })
            .partitionBy(new HashPartitioner(reducers));
    // Reading one partition runs all maps.
    shuffled.take(1);
    return shuffled;
  }

  /** The number by which Spark knows a shuffle. */
  static int idOf(JavaPairRDD<?, ?> shuffled) {
    return Lineage.shuffleOf(shuffled.rdd());
  }

  /** The blocks of a shuffle that lie in an executor; may be called anywhere in the application. */
  static BlockSet blocksIn(String executorId, int shuffleId, int partitions) {
    var byExecutor =
        SparkEnv.get()
            .mapOutputTracker()
            .getMapSizesByExecutorId(shuffleId, 0, Integer.MAX_VALUE, 0, partitions);
    while (byExecutor.hasNext()) {
      var entry = byExecutor.next();
      BlockManagerId where = entry._1();
      if (where.executorId().equals(executorId)) {
        List<String> ids = new ArrayList<>();
        long bytes = 0;
        Iterator<Tuple3<BlockId, Object, Object>> blocks = entry._2().iterator();
        while (blocks.hasNext()) {
          Tuple3<BlockId, Object, Object> block = blocks.next();
          ids.add(block._1().name());
          bytes += (Long) block._2();
        }
        return new BlockSet(where.host(), where.port(), executorId, ids, bytes / ids.size());
      }
    }
    throw new IllegalStateException("executor " + executorId + " has no map output");
  }
}
