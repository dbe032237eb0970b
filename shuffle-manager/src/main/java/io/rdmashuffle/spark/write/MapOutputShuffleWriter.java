package io.rdmashuffle.spark.write;

import java.io.IOException;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.TaskContext;
import org.apache.spark.scheduler.MapStatus;
import org.apache.spark.shuffle.ShuffleWriteMetricsReporter;
import org.apache.spark.shuffle.ShuffleWriter;
import scala.Option;

/**
 * What all writers of map outputs have in common: the task they write for, and how they end. Used
 * by one task on one thread; {@link #stop} leaves nothing behind but a committed output.
 */
abstract class MapOutputShuffleWriter<K, V, C> extends ShuffleWriter<K, V> {
  final DirectWriters services;
  final ShuffleDependency<K, V, C> dependency;
  final TaskContext context;
  final ShuffleWriteMetricsReporter metrics;
  final RowChecksums rowChecksums;

  private final long mapTaskId;
  private long[] partitionLengths;
  private MapStatus mapStatus;
  private boolean isStopped;

  MapOutputShuffleWriter(
      DirectWriters services,
      ShuffleDependency<K, V, C> dependency,
      long mapTaskId,
      TaskContext context,
      ShuffleWriteMetricsReporter metrics) {
    this.services = services;
    this.dependency = dependency;
    this.mapTaskId = mapTaskId;
    this.context = context;
    this.metrics = metrics;
    rowChecksums = RowChecksums.of(dependency);
  }

  /** Writes all partitions and commits them. */
  final void writeOutput() throws IOException {
    try (PartitionedOutput output = services.newOutput(dependency, mapTaskId, context, metrics)) {
      writePartitions(output);
      partitionLengths = output.commit();
    }
    mapStatus =
        MapStatuses.of(services.location(), partitionLengths, mapTaskId, rowChecksums.aggregated());
  }

  /** Writes the partitions that are not empty, in order. */
  abstract void writePartitions(PartitionedOutput output) throws IOException;

  /** Gives back what the writer holds; called once. */
  abstract void release();

  @Override
  public final Option<MapStatus> stop(boolean success) {
    if (isStopped) {
      return Option.empty();
    }
    isStopped = true;
    release();
    if (!success) {
      return Option.empty();
    }
    if (mapStatus == null) {
      throw new IllegalStateException("stopped with success, but nothing was written");
    }
    return Option.apply(mapStatus);
  }

  @Override
  public final long[] getPartitionLengths() {
    return partitionLengths;
  }
}
