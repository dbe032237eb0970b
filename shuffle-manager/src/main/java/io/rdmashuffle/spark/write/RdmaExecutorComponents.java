package io.rdmashuffle.spark.write;

import io.rdmashuffle.RdmaShuffleManager;
import io.rdmashuffle.spark.ExecutorRuntime;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.shuffle.api.ShuffleExecutorComponents;
import org.apache.spark.shuffle.api.ShuffleMapOutputWriter;
import org.apache.spark.shuffle.api.SingleSpillShuffleMapOutputWriter;
import org.apache.spark.shuffle.sort.io.LocalDiskShuffleExecutorComponents;

/**
 * Gives Spark's writers an output in the block store, or Spark's own files where memory is not to
 * be used. Used by all tasks of an executor.
 */
public final class RdmaExecutorComponents implements ShuffleExecutorComponents {
  private final ShuffleExecutorComponents files;

  /**
   * @param conf of the executor
   */
  public RdmaExecutorComponents(SparkConf conf) {
    files = new LocalDiskShuffleExecutorComponents(conf);
  }

  @Override
  public void initializeExecutor(
      String applicationId, String executorId, Map<String, String> extraConfigs) {
    files.initializeExecutor(applicationId, executorId, extraConfigs);
  }

  @Override
  public ShuffleMapOutputWriter createMapOutputWriter(
      int shuffleId, long mapTaskId, int numPartitions) throws IOException {
    ExecutorRuntime runtime = runtime();
    return runtime == null || !runtime.keepsOutputsInMemory()
        ? files.createMapOutputWriter(shuffleId, mapTaskId, numPartitions)
        : new MemoryMapOutputWriter(
            MemoryTier.of(runtime), files, shuffleId, mapTaskId, numPartitions);
  }

  /**
   * A single sorted spill file becomes the map output: loaded into memory where it fits, else kept
   * as the file it is.
   */
  @Override
  public Optional<SingleSpillShuffleMapOutputWriter> createSingleFileMapOutputWriter(
      int shuffleId, long mapTaskId) throws IOException {
    Optional<SingleSpillShuffleMapOutputWriter> fileWriter =
        files.createSingleFileMapOutputWriter(shuffleId, mapTaskId);
    ExecutorRuntime runtime = runtime();
    if (runtime == null || !runtime.keepsOutputsInMemory() || fileWriter.isEmpty()) {
      return fileWriter;
    }
    return Optional.of(
        new MemorySingleSpillWriter(
            MemoryTier.of(runtime), fileWriter.get(), shuffleId, mapTaskId));
  }

  /** Null when the manager that asks is not ours, as when it delegates in local mode. */
  private static ExecutorRuntime runtime() {
    return SparkEnv.get().shuffleManager() instanceof RdmaShuffleManager manager
        ? manager.runtime()
        : null;
  }
}
