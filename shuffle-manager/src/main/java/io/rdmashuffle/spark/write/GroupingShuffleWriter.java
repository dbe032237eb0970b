package io.rdmashuffle.spark.write;

import io.rdmashuffle.spark.ExternalSorters;
import java.io.IOException;
import java.io.OutputStream;
import org.apache.spark.Partitioner;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.TaskContext;
import org.apache.spark.serializer.SerializationStream;
import org.apache.spark.serializer.SerializerInstance;
import org.apache.spark.shuffle.ShuffleWriteMetricsReporter;
import org.apache.spark.util.collection.ExternalSorter;
import scala.Option;
import scala.Product2;
import scala.Tuple2;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/**
 * Writes a map output whose records are combined first, or must stay objects until they are grouped
 * by partition. Spark's external sorter does that, within the task's memory and spilling beyond it;
 * then each partition is serialized and compressed straight into the block store. Unlike Spark's
 * own writer a small partition costs only what it holds.
 *
 * <p>Used by one task on one thread.
 */
final class GroupingShuffleWriter<K, V, C> extends MapOutputShuffleWriter<K, V, C> {
  private static final ClassTag<Object> OBJECT = ClassTag$.MODULE$.Object();

  // Null where the codec has to make a stream for each partition; then it needs the buffer.
  private final Lz4BlockStream lz4;
  private final byte[] buffer;

  private ExternalSorter<K, V, C> sorter;

  GroupingShuffleWriter(
      DirectWriters services,
      ShuffleDependency<K, V, C> dependency,
      long mapTaskId,
      TaskContext context,
      ShuffleWriteMetricsReporter metrics) {
    super(services, dependency, mapTaskId, context, metrics);
    lz4 = services.streams().newLz4BlockStream();
    buffer = lz4 == null ? new byte[BlockStreams.SMALL] : null;
  }

  @Override
  public void write(Iterator<Product2<K, V>> records) throws IOException {
    boolean isCombining = dependency.mapSideCombine();
    sorter =
        ExternalSorters.create(
            context,
            isCombining ? dependency.aggregator() : Option.empty(),
            Option.apply(dependency.partitioner()),
            isCombining ? dependency.keyOrdering() : Option.empty(),
            dependency.serializer());
    sorter.insertAll(rowChecksums.isPresent() ? checked(records) : records);
    writeOutput();
    context.taskMetrics().incMemoryBytesSpilled(sorter.memoryBytesSpilled());
    context.taskMetrics().incDiskBytesSpilled(sorter.diskBytesSpilled());
    context.taskMetrics().incPeakExecutionMemory(sorter.peakMemoryUsedBytes());
  }

  private Iterator<Product2<K, V>> checked(Iterator<Product2<K, V>> records) {
    Partitioner partitioner = dependency.partitioner();
    return new AbstractIterator<>() {
      @Override
      public boolean hasNext() {
        return records.hasNext();
      }

      @Override
      public Product2<K, V> next() {
        Product2<K, V> record = records.next();
        rowChecksums.update(partitioner.getPartition(record._1()), record._1(), record._2());
        return record;
      }
    };
  }

  @Override
  void writePartitions(PartitionedOutput output) throws IOException {
    SerializerInstance serializer = dependency.serializer().newInstance();
    Iterator<Tuple2<Object, Iterator<Product2<K, C>>>> partitions = sorter.partitionedIterator();
    long count = 0;
    while (partitions.hasNext()) {
      Tuple2<Object, Iterator<Product2<K, C>>> partition = partitions.next();
      if (partition._2().hasNext()) {
        PartitionSink sink = output.start((Integer) partition._1());
        count += writeRecords(partition._2(), serializer, sink);
        output.end();
      }
    }
    metrics.incRecordsWritten(count);
  }

  private long writeRecords(
      Iterator<Product2<K, C>> records, SerializerInstance serializer, PartitionSink sink)
      throws IOException {
    long count = 0;
    try (OutputStream block = compressing(services.streams().encrypting(sink));
        SerializationStream stream = serializer.serializeStream(block)) {
      while (records.hasNext()) {
        Product2<K, C> record = records.next();
        stream.writeKey((Object) record._1(), OBJECT);
        stream.writeValue((Object) record._2(), OBJECT);
        count++;
      }
    }
    return count;
  }

  private OutputStream compressing(OutputStream out) {
    return lz4 == null ? new FittingCompression(services.streams(), out, buffer) : lz4.to(out);
  }

  @Override
  void release() {
    if (sorter != null) {
      sorter.stop();
    }
  }
}
