package io.rdmashuffle.spark.write;

import io.rdmashuffle.spark.tier.OutputTiers;
import io.rdmashuffle.store.ChecksumAlgorithm;
import java.io.IOException;
import java.util.zip.Adler32;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;
import java.util.zip.Checksum;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkConf;
import org.apache.spark.TaskContext;
import org.apache.spark.serializer.SerializerManager;
import org.apache.spark.shuffle.BaseShuffleHandle;
import org.apache.spark.shuffle.ShuffleHandle;
import org.apache.spark.shuffle.ShuffleWriteMetricsReporter;
import org.apache.spark.shuffle.ShuffleWriter;
import org.apache.spark.shuffle.sort.BypassMergeSortShuffleHandle;
import org.apache.spark.shuffle.sort.SerializedShuffleHandle;
import org.apache.spark.storage.BlockManager;
import org.apache.spark.storage.BlockManagerId;

/**
 * Creates the writers of an executor, which put map outputs straight into its block store, and
 * holds what they share. Used by all its tasks.
 */
public final class DirectWriters {
  private final OutputTiers tiers;
  private final BlockManager blockManager;
  private final BlockStreams streams;
  private final ChecksumAlgorithm checksumAlgorithm;

  /**
   * In an executor whose block manager is initialized.
   *
   * @param tiers where outputs go
   */
  public DirectWriters(
      OutputTiers tiers,
      SparkConf conf,
      BlockManager blockManager,
      SerializerManager serializerManager) {
    this.tiers = tiers;
    this.blockManager = blockManager;
    streams = new BlockStreams(conf, serializerManager);
    checksumAlgorithm = checksumAlgorithm(conf);
  }

  private static ChecksumAlgorithm checksumAlgorithm(SparkConf conf) {
    if (conf.getBoolean("spark.shuffle.checksum.enabled", true)) {
      String name = conf.get("spark.shuffle.checksum.algorithm", "ADLER32");
      for (ChecksumAlgorithm algorithm : ChecksumAlgorithm.values()) {
        if (algorithm.name().equalsIgnoreCase(name)) {
          return algorithm;
        }
      }
    }
    return ChecksumAlgorithm.NONE;
  }

  /**
   * A writer for a task, on whose thread this is called.
   *
   * @param handle of any shuffle that Spark's sort shuffle registered
   */
  @SuppressWarnings("unchecked")
  public <K, V> ShuffleWriter<K, V> create(
      ShuffleHandle handle, long mapId, TaskContext context, ShuffleWriteMetricsReporter metrics) {
    ShuffleDependency<K, V, Object> dependency =
        ((BaseShuffleHandle<K, V, Object>) handle).dependency();
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
      ShuffleWriteMetricsReporter metrics)
      throws IOException {
    int numPartitions = dependency.partitioner().numPartitions();
    Checksum checksum = newChecksum();
    return new PartitionedOutput(
        new TieredMapOutputWriter(
            tiers, dependency.shuffleId(), mapTaskId, numPartitions, checksumAlgorithm),
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
