package io.rdmashuffle.spark.resolve;

import io.rdmashuffle.store.BlockStore;
import io.rdmashuffle.store.MapOutput;
import java.nio.ByteBuffer;
import java.util.function.Supplier;
import org.apache.spark.SparkConf;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.buffer.NioManagedBuffer;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.apache.spark.shuffle.ShuffleBlockInfo;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.ShuffleBlockBatchId;
import org.apache.spark.storage.ShuffleBlockId;
import org.apache.spark.storage.ShuffleDataBlockId;
import org.apache.spark.storage.ShuffleIndexBlockId;
import scala.Option;
import scala.Tuple2;
import scala.collection.Iterator;
import scala.collection.immutable.List;
import scala.collection.immutable.List$;

/**
 * Finds the blocks of this executor wherever they are: in the block store, or in Spark's files,
 * which is what the class it extends looks after. Spark casts the resolver to that class in several
 * places. Safe for use by several threads.
 *
 * <p>Made by {@link Resolvers}. The class it extends has another constructor before Spark 4.1 and
 * other collections with Scala 2.12, so the build compiles this source once more against each of
 * them, under another name. What is written here must compile with all of them: Scala's {@code
 * List}, for example, where one has an immutable {@code Seq} and another any.
 */
final class RdmaShuffleBlockResolver extends IndexShuffleBlockResolver {
  private final Supplier<BlockStore> store;

  /**
   * @param sparks the sort shuffle's, with whose notes of tasks it finds files to delete
   * @param store the block store, or null as long as there is none
   */
  RdmaShuffleBlockResolver(
      SparkConf conf, IndexShuffleBlockResolver sparks, Supplier<BlockStore> store) {
    super(conf, null, sparks.taskIdMapsForShuffle());
    this.store = store;
  }

  @Override
  public ManagedBuffer getBlockData(BlockId blockId, Option<String[]> directories) {
    ManagedBuffer inMemory = directories.isEmpty() ? fromMemory(blockId) : null;
    return inMemory == null ? super.getBlockData(blockId, directories) : inMemory;
  }

  /** The block, pinned, or null when it is not in memory. */
  private ManagedBuffer fromMemory(BlockId blockId) {
    if (blockId instanceof ShuffleBlockId id) {
      return fromMemory(id.shuffleId(), id.mapId(), id.reduceId(), id.reduceId() + 1);
    }
    if (blockId instanceof ShuffleBlockBatchId id) {
      return fromMemory(id.shuffleId(), id.mapId(), id.startReduceId(), id.endReduceId());
    }
    return null;
  }

  private ManagedBuffer fromMemory(int shuffleId, long mapId, int start, int end) {
    MapOutput output = output(shuffleId, mapId);
    return output != null && output.pin() ? SlabManagedBuffer.of(output, start, end) : null;
  }

  private MapOutput output(int shuffleId, long mapId) {
    BlockStore outputs = store.get();
    return outputs == null ? null : outputs.get(shuffleId, mapId);
  }

  /** Frees the output in memory, and deletes files where there are any. */
  @Override
  public void removeDataByMap(int shuffleId, long mapId) {
    BlockStore outputs = store.get();
    if (outputs == null || !outputs.remove(shuffleId, mapId)) {
      super.removeDataByMap(shuffleId, mapId);
    }
  }

  /** What a decommissioned executor must hand to others: files and memory. */
  @Override
  public List<ShuffleBlockInfo> getStoredShuffles() {
    List<ShuffleBlockInfo> all = List$.MODULE$.empty();
    Iterator<ShuffleBlockInfo> inFiles = super.getStoredShuffles().iterator();
    while (inFiles.hasNext()) {
      all = all.$colon$colon(inFiles.next());
    }
    BlockStore outputs = store.get();
    if (outputs != null) {
      for (MapOutput output : outputs.outputs()) {
        all = all.$colon$colon(new ShuffleBlockInfo(output.shuffleId(), output.mapTaskId()));
      }
    }
    return all;
  }

  /** An output in memory migrates as the index and data files it would be. */
  @Override
  public List<Tuple2<BlockId, ManagedBuffer>> getMigrationBlocks(ShuffleBlockInfo info) {
    MapOutput output = output(info.shuffleId(), info.mapId());
    if (output == null || !output.pin()) {
      return super.getMigrationBlocks(info);
    }
    List<Tuple2<BlockId, ManagedBuffer>> blocks = List$.MODULE$.empty();
    BlockId dataId = new ShuffleDataBlockId(info.shuffleId(), info.mapId(), NOOP_REDUCE_ID());
    BlockId indexId = new ShuffleIndexBlockId(info.shuffleId(), info.mapId(), NOOP_REDUCE_ID());
    ManagedBuffer index = new NioManagedBuffer(indexFile(output));
    ManagedBuffer data = SlabManagedBuffer.forMigration(output);
    if (output.length() > 0) {
      blocks = blocks.$colon$colon(new Tuple2<>(dataId, data));
    } else {
      data.release();
    }
    return blocks.$colon$colon(new Tuple2<>(indexId, index));
  }

  /** Spark's index file: the offset of every partition and the end of the last, big-endian. */
  private static ByteBuffer indexFile(MapOutput output) {
    ByteBuffer index = ByteBuffer.allocate((output.numPartitions() + 1) * Long.BYTES);
    long offset = 0;
    index.putLong(offset);
    for (int i = 0; i < output.numPartitions(); i++) {
      offset += output.partitionLength(i);
      index.putLong(offset);
    }
    index.flip();
    return index;
  }
}
