package io.rdmashuffle.spark.write;

import java.io.IOException;
import java.io.OutputStream;
import java.util.Arrays;
import org.apache.spark.TaskContext;
import org.apache.spark.shuffle.ShuffleWriteMetricsReporter;
import org.apache.spark.shuffle.api.ShuffleMapOutputWriter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A map output that is being written: partition after partition, with its checksums and metrics.
 * Closing it drops what was not committed. Used by one task on one thread.
 */
final class PartitionedOutput implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(PartitionedOutput.class);

  private final ShuffleMapOutputWriter writer;
  private final TaskContext context;
  private final ShuffleWriteMetricsReporter metrics;
  private final PartitionSink sink;
  private final long[] checksums;

  private int partition;
  private OutputStream stream;
  private boolean isCommitted;

  /**
   * @param sink which sums up if checksums are asked for
   * @param checksums one per partition, or none when they are not asked for
   */
  PartitionedOutput(
      ShuffleMapOutputWriter writer,
      TaskContext context,
      ShuffleWriteMetricsReporter metrics,
      PartitionSink sink,
      long[] checksums) {
    this.writer = writer;
    this.context = context;
    this.metrics = metrics;
    this.sink = sink;
    this.checksums = checksums;
    Arrays.fill(checksums, sink.checksum());
  }

  /**
   * Starts a partition, whose stored bytes go to the returned sink until {@link #end()}.
   *
   * @param partition greater than those before
   */
  PartitionSink start(int partition) throws IOException {
    context.killTaskIfInterrupted();
    this.partition = partition;
    stream = writer.getPartitionWriter(partition).openStream();
    return sink.to(stream);
  }

  /** Ends the partition. */
  void end() throws IOException {
    OutputStream ended = stream;
    stream = null;
    ended.close();
    metrics.incBytesWritten(sink.partitionBytes());
    if (checksums.length > 0) {
      checksums[partition] = sink.checksum();
    }
  }

  /**
   * Makes the output known to readers.
   *
   * @return bytes of each partition
   */
  long[] commit() throws IOException {
    metrics.incWriteTime(sink.writeNs());
    long[] lengths = writer.commitAllPartitions(checksums).getPartitionLengths();
    isCommitted = true;
    return lengths;
  }

  /** Throws nothing, so that it masks no failure. */
  @Override
  public void close() {
    if (isCommitted) {
      return;
    }
    try {
      if (stream != null) {
        stream.close();
      }
      writer.abort(null);
    } catch (IOException | RuntimeException e) {
      LOG.warn("could not drop a map output after a failure", e);
    }
  }
}
