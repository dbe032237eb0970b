package io.rdmashuffle.spark.write;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.Partitioner;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.TaskContext;
import org.apache.spark.scheduler.MapStatus;
import org.apache.spark.serializer.Serializer;
import org.apache.spark.shuffle.ShuffleWriteMetricsReporter;
import org.apache.spark.shuffle.ShuffleWriter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Option;
import scala.Product2;
import scala.collection.Iterator;

/**
 * Writes a map output without temporary files: records are serialized into task memory, sorted by
 * partition, and then compressed straight into the block store. Only when the task runs short of
 * memory are there files, spilled and merged at the end; and when the block store's budget is spent
 * the output itself goes to Spark's files.
 *
 * <p>For shuffles that neither combine nor order on the map side. Used by one task on one thread,
 * which is the one that creates it; {@link #stop} leaves nothing behind but a committed output.
 */
final class DirectShuffleWriter<K, V> extends ShuffleWriter<K, V> {
  private static final Logger LOG = LoggerFactory.getLogger(DirectShuffleWriter.class);

  private final DirectWriters services;
  private final ShuffleDependency<K, V, ?> dependency;
  private final long mapTaskId;
  private final TaskContext context;
  private final ShuffleWriteMetricsReporter metrics;
  private final int numPartitions;
  private final RowChecksums rowChecksums;

  private final RecordPages pages;
  private final BlockEncoder encoder;
  private final List<SpillFile> spills = new ArrayList<>();

  private long[] partitionLengths;
  private MapStatus mapStatus;
  private boolean isStopped;

  DirectShuffleWriter(
      DirectWriters services,
      ShuffleDependency<K, V, ?> dependency,
      long mapTaskId,
      TaskContext context,
      ShuffleWriteMetricsReporter metrics) {
    this.services = services;
    this.dependency = dependency;
    this.mapTaskId = mapTaskId;
    this.context = context;
    this.metrics = metrics;
    numPartitions = dependency.partitioner().numPartitions();
    rowChecksums = RowChecksums.of(dependency);
    encoder = new BlockEncoder(services.streams());
    pages = new RecordPages(context.taskMemoryManager(), this::spill);
  }

  @Override
  public void write(Iterator<Product2<K, V>> records) throws IOException {
    boolean isWritten = false;
    try {
      insert(records);
      writeOutput();
      isWritten = true;
    } finally {
      if (!isWritten) {
        release();
      }
    }
  }

  private void insert(Iterator<Product2<K, V>> records) throws IOException {
    Partitioner partitioner = dependency.partitioner();
    long count = 0;
    try (RecordInserter inserter = newInserter()) {
      while (records.hasNext()) {
        Product2<K, V> record = records.next();
        K key = record._1();
        int partition = partitioner.getPartition(key);
        inserter.insert(partition, key, record._2());
        rowChecksums.update(partition, key, record._2());
        count++;
      }
      inserter.finish();
    }
    metrics.incRecordsWritten(count);
  }

  private RecordInserter newInserter() {
    Serializer serializer = dependency.serializer();
    return serializer.supportsRelocationOfSerializedObjects()
        ? new SingleStreamInserter(pages, serializer.newInstance())
        : new PartitionStreamsInserter(pages, serializer.newInstance(), numPartitions);
  }

  /** Called back by the pages when the task is short of memory. */
  private void spill(SortedRecords records, long freedBytes) throws IOException {
    SpillFile spill = services.newSpillFile();
    // Known before it is written, so that it is deleted whatever happens.
    spills.add(spill);
    spill.write(records, encoder);
    context.taskMetrics().incMemoryBytesSpilled(freedBytes);
    context.taskMetrics().incDiskBytesSpilled(spill.bytes());
    LOG.info(
        "task {} was short of memory and spilled {} bytes as {}, spill {}",
        context.taskAttemptId(),
        freedBytes,
        spill.bytes(),
        spills.size());
  }

  private void writeOutput() throws IOException {
    try (PartitionedOutput output = services.newOutput(dependency, mapTaskId, context, metrics)) {
      writePartitions(output);
      // Publishing waits for the driver; let others have the memory meanwhile.
      release();
      partitionLengths = output.commit();
    }
    mapStatus =
        MapStatuses.of(services.location(), partitionLengths, mapTaskId, rowChecksums.aggregated());
  }

  private void writePartitions(PartitionedOutput output) throws IOException {
    SortedRecords records = pages.sorted();
    List<SpillReader> readers = new ArrayList<>(spills.size());
    try {
      for (SpillFile spill : spills) {
        readers.add(new SpillReader(spill));
      }
      int partition = nextPartition(records, readers);
      while (partition != SortedRecords.NONE) {
        PartitionSink sink = output.start(partition);
        if (readers.isEmpty()) {
          encoder.encode(records, sink);
        } else {
          encoder.merge(partition, readers, records, sink);
        }
        output.end();
        partition = nextPartition(records, readers);
      }
    } finally {
      closeAll(readers);
    }
  }

  private static int nextPartition(SortedRecords records, List<SpillReader> readers) {
    int least = records.partition();
    for (SpillReader reader : readers) {
      least = Math.min(least, reader.partition());
    }
    return least;
  }

  @Override
  public Option<MapStatus> stop(boolean success) {
    if (isStopped) {
      return Option.empty();
    }
    isStopped = true;
    release();
    context.taskMetrics().incPeakExecutionMemory(pages.peakBytes());
    if (!success) {
      return Option.empty();
    }
    if (mapStatus == null) {
      throw new IllegalStateException("stopped with success, but nothing was written");
    }
    return Option.apply(mapStatus);
  }

  @Override
  public long[] getPartitionLengths() {
    return partitionLengths;
  }

  /** Gives back memory and temporary files; throws nothing, so that it masks no failure. */
  private void release() {
    pages.free();
    for (SpillFile spill : spills) {
      if (!spill.delete()) {
        LOG.warn("could not delete temporary file {}", spill.file());
      }
    }
    spills.clear();
  }

  private static void closeAll(List<SpillReader> readers) {
    for (SpillReader reader : readers) {
      try {
        reader.close();
      } catch (IOException e) {
        LOG.warn("could not close a spill file after it was read", e);
      }
    }
  }
}
