package io.rdmashuffle.spark.read;

import java.io.InputStream;
import java.util.NoSuchElementException;
import org.apache.spark.TaskContext;
import org.apache.spark.serializer.SerializerInstance;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.storage.BlockId;
import scala.Product2;
import scala.Tuple2;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;

/**
 * The records of a sequence of fetched blocks. Counts each, and merges the task's read metrics once
 * the last was taken. A block's stream is closed by its own iterator when it is exhausted.
 */
final class RecordIterator<K, C> extends AbstractIterator<Product2<K, C>> {
  private final Iterator<Tuple2<BlockId, InputStream>> streams;
  private final SerializerInstance serializer;
  private final ShuffleReadMetricsReporter metrics;
  private final TaskContext context;
  private Iterator<Tuple2<Object, Object>> records;
  private boolean isExhausted;

  RecordIterator(
      Iterator<Tuple2<BlockId, InputStream>> streams,
      SerializerInstance serializer,
      ShuffleReadMetricsReporter metrics,
      TaskContext context) {
    this.streams = streams;
    this.serializer = serializer;
    this.metrics = metrics;
    this.context = context;
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
      records = serializer.deserializeStream(streams.next()._2()).asKeyValueIterator();
    }
    return true;
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
