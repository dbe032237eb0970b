package io.rdmashuffle.bench;

import io.rdmashuffle.harness.ClusterSpec;
import io.rdmashuffle.harness.ExecutorProcess;
import io.rdmashuffle.harness.LocalCluster;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.api.java.JavaPairRDD;

/** What a block costs an executor that reads few of them, or very many. */
final class BlockScale implements AutoCloseable {
  /** Reducers; so many blocks come from one map output. */
  static final int PARTITIONS = 1_000;

  private static final int BLOCK_BYTES = 256;

  /** First reads of few blocks are repeated on further shuffles, up to so many blocks in all. */
  private static final int FIRST_BLOCKS = 20_000;

  private final LocalCluster cluster;
  private final double seconds;

  /**
   * @param seconds length of the measurement of repeated reads
   */
  BlockScale(ClusterSpec spec, double seconds) {
    cluster = LocalCluster.start(spec);
    this.seconds = seconds;
  }

  /**
   * Measures.
   *
   * @param blocks about as many are read, from about half of the map outputs: those of the other
   *     executor
   */
  ScaleTask.Result measure(int blocks) {
    int maps = Math.max(2, 2 * blocks / PARTITIONS);
    FetchShape shape = new FetchShape("tiny", BLOCK_BYTES, maps, PARTITIONS);
    // Held until the blocks have been fetched: Spark drops a shuffle nobody refers to.
    List<JavaPairRDD<Integer, byte[]>> shuffles = new ArrayList<>();
    do {
      shuffles.add(shape.shuffle(cluster.java()));
    } while (shuffles.size() < FIRST_BLOCKS / blocks);
    List<ExecutorProcess> executors = cluster.executors();
    ExecutorProcess server = executors.get(0);
    ScaleTask task =
        new ScaleTask(
            shuffles.stream().map(FetchShape::idOf).toList(),
            PARTITIONS,
            server.id(),
            server.pid(),
            seconds);
    return ExecutorTasks.runOn(cluster, executors.get(1).id(), task::run);
  }

  @Override
  public void close() {
    cluster.close();
  }
}
