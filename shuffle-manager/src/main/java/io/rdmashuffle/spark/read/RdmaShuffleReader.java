package io.rdmashuffle.spark.read;

import io.rdmashuffle.spark.ExternalSorters;
import io.rdmashuffle.spark.UnsafeRows;
import java.io.InputStream;
import org.apache.spark.Aggregator;
import org.apache.spark.InterruptibleIterator;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.internal.config.package$;
import org.apache.spark.io.CompressionCodec;
import org.apache.spark.io.CompressionCodec$;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.serializer.Serializer;
import org.apache.spark.serializer.SerializerInstance;
import org.apache.spark.serializer.SerializerManager;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.shuffle.ShuffleReader;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BlockManagerId;
import org.apache.spark.storage.ShuffleBlockFetcherIterator;
import org.apache.spark.util.SystemClock;
import org.apache.spark.util.collection.ExternalSorter;
import scala.Function1;
import scala.Option;
import scala.Product2;
import scala.Tuple2;
import scala.Tuple3;
import scala.collection.Iterator;
import scala.collection.Seq;

/**
 * Reads a range of partitions as Spark's own {@code BlockStoreShuffleReader} does, through Spark's
 * own {@link ShuffleBlockFetcherIterator}, with one difference: the client that fetches the blocks
 * is ours. Spark's reader takes its client from the block manager and cannot be given another.
 *
 * <p>Used by one task on one thread.
 */
public final class RdmaShuffleReader<K, C> implements ShuffleReader<K, C> {
  private final ShuffleDependency<K, ?, C> dependency;
  private final Iterator<Tuple2<BlockManagerId, Seq<Tuple3<BlockId, Object, Object>>>>
      blocksByAddress;
  private final TaskContext context;
  private final ShuffleReadMetricsReporter metrics;
  private final BlockStoreClient client;
  private final boolean mayFetchInBatch;

  /**
   * @param blocksByAddress what the map output tracker says of the blocks to read
   * @param client fetches blocks of other executors
   * @param mayFetchInBatch whether the plan allows adjacent partitions to be fetched as one block
   */
  public RdmaShuffleReader(
      ShuffleDependency<K, ?, C> dependency,
      Iterator<Tuple2<BlockManagerId, Seq<Tuple3<BlockId, Object, Object>>>> blocksByAddress,
      TaskContext context,
      ShuffleReadMetricsReporter metrics,
      BlockStoreClient client,
      boolean mayFetchInBatch) {
    this.dependency = dependency;
    this.blocksByAddress = blocksByAddress;
    this.context = context;
    this.metrics = metrics;
    this.client = client;
    this.mayFetchInBatch = mayFetchInBatch;
  }

  @Override
  public Iterator<Product2<K, C>> read() {
    Serializer serializer = dependency.serializer();
    Iterator<Product2<K, C>> records =
        new RecordIterator<>(
            fetchedStreams(),
            deserializer(serializer),
            metrics,
            context,
            serializer.supportsRelocationOfSerializedObjects());
    Iterator<Product2<K, C>> result = sortOrAggregate(interruptible(records));
    return result instanceof InterruptibleIterator ? result : interruptible(result);
  }

  private static RecordIterator.Deserializer deserializer(Serializer serializer) {
    UnsafeRows rows = UnsafeRows.of(serializer);
    if (rows != null) {
      return in -> new UnsafeRowIterator(in, rows.numFields());
    }
    SerializerInstance instance = serializer.newInstance();
    return in -> instance.deserializeStream(in).asKeyValueIterator();
  }

  private Iterator<Tuple2<BlockId, InputStream>> fetchedStreams() {
    SparkEnv env = SparkEnv.get();
    SparkConf conf = env.conf();
    SerializerManager serializerManager = env.serializerManager();
    package$ keys = package$.MODULE$;
    return new ShuffleBlockFetcherIterator(
            context,
            client,
            env.blockManager(),
            env.mapOutputTracker(),
            blocksByAddress,
            (blockId, stream) -> serializerManager.wrapStream(blockId, stream),
            (long) conf.get(keys.REDUCER_MAX_SIZE_IN_FLIGHT()) * 1024 * 1024,
            (int) conf.get(keys.REDUCER_MAX_REQS_IN_FLIGHT()),
            (int) conf.get(keys.REDUCER_MAX_BLOCKS_IN_FLIGHT_PER_ADDRESS()),
            (long) conf.get(keys.MAX_REMOTE_BLOCK_SIZE_FETCH_TO_MEM()),
            (int) conf.get(keys.SHUFFLE_MAX_ATTEMPTS_ON_NETTY_OOM()),
            (boolean) conf.get(keys.SHUFFLE_DETECT_CORRUPT()),
            (boolean) conf.get(keys.SHUFFLE_DETECT_CORRUPT_MEMORY()),
            (boolean) conf.get(keys.SHUFFLE_CHECKSUM_ENABLED()),
            conf.get(keys.SHUFFLE_CHECKSUM_ALGORITHM()),
            metrics,
            canFetchInBatch(conf),
            new SystemClock())
        .toCompletionIterator();
  }

  /**
   * The same conditions as Spark's reader: adjacent blocks must be one valid stream when joined.
   */
  private boolean canFetchInBatch(SparkConf conf) {
    package$ keys = package$.MODULE$;
    boolean isCompressed = (boolean) conf.get(keys.SHUFFLE_COMPRESS());
    return mayFetchInBatch
        && dependency.serializer().supportsRelocationOfSerializedObjects()
        && (!isCompressed || canConcatenateCompressed(conf))
        && !(boolean) conf.get(keys.SHUFFLE_USE_OLD_FETCH_PROTOCOL())
        && !(boolean) conf.get(keys.IO_ENCRYPTION_ENABLED());
  }

  private static boolean canConcatenateCompressed(SparkConf conf) {
    CompressionCodec codec = CompressionCodec$.MODULE$.createCodec(conf);
    return CompressionCodec$.MODULE$.supportsConcatenationOfSerializedStreams(codec);
  }

  private <T> Iterator<T> interruptible(Iterator<T> records) {
    return new InterruptibleIterator<>(context, records);
  }

  @SuppressWarnings({"unchecked", "rawtypes"})
  private Iterator<Product2<K, C>> sortOrAggregate(Iterator<Product2<K, C>> records) {
    Option aggregator = dependency.aggregator();
    if (dependency.keyOrdering().isDefined()) {
      ExternalSorter sorter =
          ExternalSorters.create(
              context,
              sortAggregator(aggregator),
              Option.empty(),
              dependency.keyOrdering(),
              dependency.serializer());
      return sorter.insertAllAndUpdateMetrics((Iterator) records);
    }
    if (!aggregator.isDefined()) {
      return records;
    }
    Aggregator combine = (Aggregator) aggregator.get();
    return dependency.mapSideCombine()
        ? combine.combineCombinersByKey(records, context)
        : combine.combineValuesByKey(records, context);
  }

  /** After a map-side combine what arrives are combiners, to be merged and never created. */
  @SuppressWarnings({"unchecked", "rawtypes"})
  private Option sortAggregator(Option aggregator) {
    if (!aggregator.isDefined() || !dependency.mapSideCombine()) {
      return aggregator;
    }
    Aggregator combine = (Aggregator) aggregator.get();
    Function1<Object, Object> identity = combiner -> combiner;
    return Option.apply(
        new Aggregator(identity, combine.mergeCombiners(), combine.mergeCombiners()));
  }
}
