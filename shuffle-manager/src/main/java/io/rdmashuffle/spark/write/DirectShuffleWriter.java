package io.rdmashuffle.spark.write;

import io.rdmashuffle.spark.UnsafeRows;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.Partitioner;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.TaskContext;
import org.apache.spark.serializer.Serializer;
import org.apache.spark.shuffle.ShuffleWriteMetricsReporter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Product2;
import scala.collection.Iterator;

/**
 * Writes a map output without temporary files: records are serialized into task memory, sorted by
 * partition, and then compressed straight into the block store. Only when the task runs short of
 * memory are there files, spilled and merged at the end; and when the block store's budget is spent
 * the output itself goes to Spark's files.
 *
 * <p>For shuffles that neither combine nor order on the map side. Used by one task on one thread,
 * which is the one that creates it.
 */
final class DirectShuffleWriter<K, V> extends MapOutputShuffleWriter<K, V, Object> {
  private static final Logger LOG = LoggerFactory.getLogger(DirectShuffleWriter.class);

  private final int numPartitions;
  private final RecordPages pages;
  private final BlockEncoder encoder;
  private final List<SpillFile> spills = new ArrayList<>();

  DirectShuffleWriter(
      DirectWriters services,
      ShuffleDependency<K, V, Object> dependency,
      long mapTaskId,
      TaskContext context,
      ShuffleWriteMetricsReporter metrics) {
    super(services, dependency, mapTaskId, context, metrics);
    numPartitions = dependency.partitioner().numPartitions();
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
        free();
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
    UnsafeRows rows = UnsafeRows.of(serializer);
    if (rows != null) {
      return new UnsafeRowInserter(pages, rows);
    }
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

  @Override
  void writePartitions(PartitionedOutput output) throws IOException {
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
    // Committing may wait for the driver; let others have the memory meanwhile.
    free();
  }

  private static int nextPartition(SortedRecords records, List<SpillReader> readers) {
    int least = records.partition();
    for (SpillReader reader : readers) {
      least = Math.min(least, reader.partition());
    }
    return least;
  }

  @Override
  void release() {
    free();
    context.taskMetrics().incPeakExecutionMemory(pages.peakBytes());
  }

  /** Gives back memory and temporary files; throws nothing, so that it masks no failure. */
  private void free() {
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
