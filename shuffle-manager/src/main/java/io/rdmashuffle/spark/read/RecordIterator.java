package io.rdmashuffle.spark.read;

import java.io.InputStream;
import java.util.NoSuchElementException;
import org.apache.spark.TaskContext;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.storage.BlockId;
import scala.Product2;
import scala.Tuple2;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;

/**
 * The records of a sequence of fetched blocks. Counts each, and merges the task's read metrics once
 * the last was taken. A block's stream is closed when it is exhausted.
 *
 * <p>Where serialized records may follow each other whoever wrote them, all blocks are read through
 * one deserialization stream: making one for each block, and finding its end by an exception, costs
 * more than the records of a small block do.
 */
final class RecordIterator<K, C> extends AbstractIterator<Product2<K, C>> {
  private final Iterator<Tuple2<BlockId, InputStream>> streams;
  private final Deserializer deserializer;
  private final ShuffleReadMetricsReporter metrics;
  private final TaskContext context;
  private final boolean isConcatenable;
  private Iterator<Tuple2<Object, Object>> records;
  private boolean isExhausted;

  /** Reads the records of a stream. */
  @FunctionalInterface
  interface Deserializer {
    Iterator<Tuple2<Object, Object>> records(InputStream in);
  }

  /**
   * @param isConcatenable whether the serializer reads the records of several blocks as those of
   *     one
   */
  RecordIterator(
      Iterator<Tuple2<BlockId, InputStream>> streams,
      Deserializer deserializer,
      ShuffleReadMetricsReporter metrics,
      TaskContext context,
      boolean isConcatenable) {
    this.streams = streams;
    this.deserializer = deserializer;
    this.metrics = metrics;
    this.context = context;
    this.isConcatenable = isConcatenable;
  }

  @Override
  public boolean hasNext() {
    while (records == null || !records.hasNext()) {
      if (isExhausted) {
        return false;
      }
      if (!streams.hasNext()) {
        isExhausted = true;
        records = null;
        context.taskMetrics().mergeShuffleReadMetrics();
        return false;
      }
      records = deserializer.records(nextStream());
    }
    return true;
  }

  private InputStream nextStream() {
    return isConcatenable ? new BlockSequence(streams) : streams.next()._2();
  }

  @Override
  @SuppressWarnings("unchecked")
  public Product2<K, C> next() {
    if (!hasNext()) {
      throw new NoSuchElementException("no more records");
    }
    Tuple2<Object, Object> record = records.next();
    metrics.incRecordsRead(1);
    return (Product2<K, C>) (Product2<?, ?>) record;
  }
}
