package io.rdmashuffle.spark.tier;

import io.rdmashuffle.store.MapOutput;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Path;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.apache.spark.shuffle.api.ShuffleExecutorComponents;
import org.apache.spark.shuffle.api.ShuffleMapOutputWriter;
import org.apache.spark.shuffle.api.WritableByteChannelWrapper;
import org.apache.spark.shuffle.sort.io.LocalDiskShuffleExecutorComponents;

/**
 * Map outputs as Spark's own data, index and checksum files, which Spark's resolver and an external
 * shuffle service find by their names. Used by several threads.
 */
public final class SparkFiles implements OutputFiles {
  private final ShuffleExecutorComponents components;
  private final IndexShuffleBlockResolver resolver;

  /**
   * In an executor whose block manager is initialized.
   *
   * @param resolver Spark's own, which knows the files and nothing of memory
   */
  public SparkFiles(SparkConf conf, String executorId, IndexShuffleBlockResolver resolver) {
    this.resolver = resolver;
    components = new LocalDiskShuffleExecutorComponents(conf);
    components.initializeExecutor(conf.getAppId(), executorId, Map.of());
  }

  /** A writer of Spark's that creates the files of one output when it commits. */
  public ShuffleMapOutputWriter newWriter(int shuffleId, long mapTaskId, int numPartitions)
      throws IOException {
    return components.createMapOutputWriter(shuffleId, mapTaskId, numPartitions);
  }

  @Override
  public void write(MapOutput output) throws IOException {
    ShuffleMapOutputWriter writer =
        newWriter(output.shuffleId(), output.mapTaskId(), output.numPartitions());
    try {
      for (int partition = 0; partition < output.numPartitions(); partition++) {
        if (output.partitionLength(partition) > 0) {
          writePartition(output, partition, writer);
        }
      }
      writer.commitAllPartitions(output.checksums());
    } catch (Exception e) { // Spark throws checked exceptions that it does not declare
      abort(writer, e);
      throw e instanceof IOException io ? io : new IOException(e);
    }
  }

  private static void writePartition(MapOutput output, int partition, ShuffleMapOutputWriter writer)
      throws IOException {
    WritableByteChannelWrapper wrapper =
        writer
            .getPartitionWriter(partition)
            .openChannelWrapper()
            .orElseThrow(() -> new IOException("Spark's file writer offers no channel"));
    try (wrapper) {
      WritableByteChannel channel = wrapper.channel();
      for (ByteBuffer slice : output.slices(partition, partition + 1)) {
        while (slice.hasRemaining()) {
          channel.write(slice);
        }
      }
    }
  }

  private static void abort(ShuffleMapOutputWriter writer, Exception failure) {
    try {
      writer.abort(failure);
    } catch (IOException | RuntimeException e) {
      failure.addSuppressed(e);
    }
  }

  /** Where the data file of an output is, whether or not it exists. */
  Path dataFile(int shuffleId, long mapTaskId) {
    return resolver.getDataFile(shuffleId, mapTaskId).toPath();
  }

  @Override
  public void delete(int shuffleId, long mapTaskId) {
    resolver.removeDataByMap(shuffleId, mapTaskId);
  }
}
