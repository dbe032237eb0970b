package io.rdmashuffle.spark.resolve;

import io.rdmashuffle.store.MapOutput;
import java.io.File;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.apache.spark.SparkConf;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.buffer.NioManagedBuffer;
import org.apache.spark.network.client.StreamCallbackWithID;
import org.apache.spark.serializer.SerializerManager;
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
  private static final String FALLBACK_STORAGE = "spark.storage.decommission.fallbackStorage.path";

  private final Supplier<MemoryOutputs> memory;
  private final ChecksumFiles checksumFiles = new ChecksumFiles(this);
  private final boolean hasFallbackStorage;
  private final Set<Integer> shufflesToSkip = ConcurrentHashMap.newKeySet();

  /**
   * @param sparks the sort shuffle's, with whose notes of tasks it finds files to delete
   * @param memory map outputs in memory; gives null as long as there are none
   */
  RdmaShuffleBlockResolver(
      SparkConf conf, IndexShuffleBlockResolver sparks, Supplier<MemoryOutputs> memory) {
    super(conf, null, sparks.taskIdMapsForShuffle());
    this.memory = memory;
    hasFallbackStorage = conf.contains(FALLBACK_STORAGE);
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
    MemoryOutputs outputs = memory.get();
    return outputs == null ? null : outputs.store().get(shuffleId, mapId);
  }

  /** Frees the output in memory, and deletes files where there are any. */
  @Override
  public void removeDataByMap(int shuffleId, long mapId) {
    MemoryOutputs outputs = memory.get();
    boolean wasInMemory = outputs != null && outputs.store().remove(shuffleId, mapId);
    if (checksumFiles.forget(shuffleId, mapId) || !wasInMemory) {
      super.removeDataByMap(shuffleId, mapId);
    }
  }

  /** What a decommissioned executor must hand to others: files and memory. */
  @Override
  public List<ShuffleBlockInfo> getStoredShuffles() {
    // Some are in files as well as in memory.
    Set<ShuffleBlockInfo> stored = new HashSet<>();
    Iterator<ShuffleBlockInfo> inFiles = super.getStoredShuffles().iterator();
    while (inFiles.hasNext()) {
      stored.add(inFiles.next());
    }
    MemoryOutputs outputs = memory.get();
    if (outputs != null) {
      for (MapOutput output : outputs.store().outputs()) {
        stored.add(new ShuffleBlockInfo(output.shuffleId(), output.mapTaskId()));
      }
    }
    List<ShuffleBlockInfo> all = List$.MODULE$.empty();
    for (ShuffleBlockInfo info : stored) {
      if (!shufflesToSkip.contains(info.shuffleId())) {
        all = all.$colon$colon(info);
      }
    }
    return all;
  }

  /** A shuffle that nobody will read again; unknown to Spark 3.5, hence no {@code @Override}. */
  @SuppressWarnings("MissingOverride")
  public void addShuffleToSkip(int shuffleId) {
    shufflesToSkip.add(shuffleId);
  }

  /**
   * An output in memory migrates as the data and index files it would be. The data comes first: the
   * driver counts the output as the receiver's as soon as the index is there.
   *
   * <p>Where there is a fallback storage, the output becomes files beforehand, since Spark copies
   * nothing else to it.
   */
  @Override
  public List<Tuple2<BlockId, ManagedBuffer>> getMigrationBlocks(ShuffleBlockInfo info) {
    MapOutput output = output(info.shuffleId(), info.mapId());
    if (output == null || !output.pin()) {
      return super.getMigrationBlocks(info);
    }
    if (hasFallbackStorage && memory.get().writeFiles(output)) {
      output.unpin();
      return super.getMigrationBlocks(info);
    }
    return memoryBlocks(info, output);
  }

  private List<Tuple2<BlockId, ManagedBuffer>> memoryBlocks(
      ShuffleBlockInfo info, MapOutput output) {
    List<Tuple2<BlockId, ManagedBuffer>> blocks = List$.MODULE$.empty();
    BlockId dataId = new ShuffleDataBlockId(info.shuffleId(), info.mapId(), NOOP_REDUCE_ID());
    BlockId indexId = new ShuffleIndexBlockId(info.shuffleId(), info.mapId(), NOOP_REDUCE_ID());
    ManagedBuffer index = new NioManagedBuffer(indexFile(output));
    ManagedBuffer data = SlabManagedBuffer.forMigration(output);
    blocks = blocks.$colon$colon(new Tuple2<>(indexId, index));
    if (output.length() > 0) {
      return blocks.$colon$colon(new Tuple2<>(dataId, data));
    }
    data.release();
    return blocks;
  }

  /** What a decommissioned executor hands over goes to memory, budget permitting, else to files. */
  @Override
  public StreamCallbackWithID putShuffleBlockAsStream(
      BlockId blockId, SerializerManager serializerManager) {
    StreamCallbackWithID toFile = super.putShuffleBlockAsStream(blockId, serializerManager);
    MemoryOutputs outputs = memory.get();
    return outputs != null && blockId instanceof ShuffleIndexBlockId id
        ? new ReceivedOutput(
            toFile,
            outputs,
            id.shuffleId(),
            id.mapId(),
            getIndexFile(id.shuffleId(), id.mapId(), Option.empty()),
            getDataFile(id.shuffleId(), id.mapId()))
        : toFile;
  }

  /**
   * Spark compares corrupt blocks with this file to say where they were corrupted. An output in
   * memory gets its file when it is asked for.
   */
  @Override
  public File getChecksumFile(
      int shuffleId, long mapId, String algorithm, Option<String[]> directories) {
    File file = super.getChecksumFile(shuffleId, mapId, algorithm, directories);
    MapOutput output = directories.isEmpty() ? output(shuffleId, mapId) : null;
    if (output != null
        && output.checksumAlgorithm().name().equals(algorithm)
        && !file.exists()
        && output.pin()) {
      checksumFiles.write(output, file);
    }
    return file;
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
