package io.rdmashuffle.spark.write;

import io.rdmashuffle.spark.ExecutorRuntime;
import io.rdmashuffle.store.ChecksumAlgorithm;
import java.util.Map;
import java.util.zip.Adler32;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;
import java.util.zip.Checksum;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.serializer.SerializerManager;
import org.apache.spark.shuffle.BaseShuffleHandle;
import org.apache.spark.shuffle.ShuffleHandle;
import org.apache.spark.shuffle.ShuffleWriteMetricsReporter;
import org.apache.spark.shuffle.ShuffleWriter;
import org.apache.spark.shuffle.api.ShuffleExecutorComponents;
import org.apache.spark.shuffle.sort.BypassMergeSortShuffleHandle;
import org.apache.spark.shuffle.sort.SerializedShuffleHandle;
import org.apache.spark.shuffle.sort.io.LocalDiskShuffleExecutorComponents;
import org.apache.spark.storage.BlockManager;
import org.apache.spark.storage.BlockManagerId;

/**
 * Creates the writers of an executor, which put map outputs straight into its block store, and
 * holds what they share. Used by all its tasks.
 */
public final class DirectWriters {
  private final MemoryTier tier;
  private final ShuffleExecutorComponents files;
  private final BlockManager blockManager;
  private final BlockStreams streams;
  private final ChecksumAlgorithm checksumAlgorithm;

  /** In the executor of {@code env}, whose block manager is initialized. */
  public DirectWriters(ExecutorRuntime runtime, SparkEnv env) {
    this(
        MemoryTier.of(runtime),
        env.conf(),
        env.executorId(),
        env.blockManager(),
        env.serializerManager());
  }

  DirectWriters(
      MemoryTier tier,
      SparkConf conf,
      String executorId,
      BlockManager blockManager,
      SerializerManager serializerManager) {
    this.tier = tier;
    this.blockManager = blockManager;
    files = new LocalDiskShuffleExecutorComponents(conf);
    files.initializeExecutor(conf.getAppId(), executorId, Map.of());
    streams = new BlockStreams(conf, serializerManager);
    checksumAlgorithm =
        conf.getBoolean("spark.shuffle.checksum.enabled", true)
            ? tier.checksumAlgorithm()
            : ChecksumAlgorithm.NONE;
  }

  /**
   * A writer for a task, on whose thread this is called.
   *
   * @param handle of any shuffle that Spark's sort shuffle registered
   */
  @SuppressWarnings("unchecked")
  public <K, V> ShuffleWriter<K, V> create(
      ShuffleHandle handle, long mapId, TaskContext context, ShuffleWriteMetricsReporter metrics) {
    ShuffleDependency<K, V, ?> dependency = ((BaseShuffleHandle<K, V, ?>) handle).dependency();
    return isForDirectWriter(handle)
        ? new DirectShuffleWriter<>(this, dependency, mapId, context, metrics)
        : new GroupingShuffleWriter<>(this, dependency, mapId, context, metrics);
  }

  /**
   * Whether records need neither be combined nor held as objects: their serializer lets them be
   * sorted once they are serialized, or there are few partitions.
   */
  private static boolean isForDirectWriter(ShuffleHandle handle) {
    return (handle instanceof SerializedShuffleHandle
            || handle instanceof BypassMergeSortShuffleHandle)
        && ((BaseShuffleHandle<?, ?, ?>) handle).dependency().partitioner().numPartitions()
            <= PackedPointer.MAX_PARTITIONS;
  }

  BlockStreams streams() {
    return streams;
  }

  /** Where readers find what is written here. */
  BlockManagerId location() {
    return blockManager.shuffleServerId();
  }

  private Checksum newChecksum() {
    return switch (checksumAlgorithm) {
      case NONE -> null;
      case ADLER32 -> new Adler32();
      case CRC32 -> new CRC32();
      case CRC32C -> new CRC32C();
    };
  }

  /** In memory while the budget lasts, then in Spark's files. */
  PartitionedOutput newOutput(
      ShuffleDependency<?, ?, ?> dependency,
      long mapTaskId,
      TaskContext context,
      ShuffleWriteMetricsReporter metrics) {
    int numPartitions = dependency.partitioner().numPartitions();
    Checksum checksum = newChecksum();
    return new PartitionedOutput(
        new MemoryMapOutputWriter(tier, files, dependency.shuffleId(), mapTaskId, numPartitions),
        context,
        metrics,
        new PartitionSink(checksum),
        new long[checksum == null ? 0 : numPartitions]);
  }

  /** A temporary file that does not exist yet. */
  SpillFile newSpillFile() {
    return new SpillFile(blockManager.diskBlockManager().createTempShuffleBlock()._2());
  }
}
