package io.rdmashuffle.spark.resolve;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.rdmashuffle.store.BlockStore;
import io.rdmashuffle.store.MapOutputBuilder;
import java.nio.ByteBuffer;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.SparkConf;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.apache.spark.shuffle.ShuffleBlockInfo;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.ShuffleBlockBatchId;
import org.apache.spark.storage.ShuffleBlockId;
import org.apache.spark.storage.ShuffleDataBlockId;
import org.apache.spark.storage.ShuffleIndexBlockId;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import scala.Option;
import scala.Tuple2;

final class RdmaShuffleBlockResolverTest {
  private final BlockStore store = TestStores.withBudget(4L << 20);
  private final SparkConf conf = new SparkConf(false);
  private final IndexShuffleBlockResolver resolver =
      Resolvers.create(
          conf,
          new IndexShuffleBlockResolver(conf, null, new ConcurrentHashMap<>()),
          () -> new FakeMemoryOutputs(store));
  private final byte[] bytes = new byte[1000];

  @BeforeEach
  void write() throws Exception {
    new Random(1).nextBytes(bytes);
    MapOutputBuilder builder = store.begin(1, 2, 3);
    builder.startPartition(0);
    builder.write(bytes, 0, 400);
    builder.startPartition(2);
    builder.write(bytes, 400, 600);
    builder.commit();
  }

  @AfterEach
  void nothingIsPinned() {
    store.remove(1, 2);
    assertEquals(0, store.pool().gauges().allocatedBytes());
    store.close();
  }

  private void assertServes(BlockId id, int from, int to) throws Exception {
    ManagedBuffer buffer = resolver.getBlockData(id, Option.empty());
    byte[] expected = new byte[to - from];
    System.arraycopy(bytes, from, expected, 0, expected.length);
    assertEquals(expected.length, buffer.size());
    try (var in = buffer.createInputStream()) {
      assertArrayEquals(expected, in.readAllBytes());
    }
    buffer.release();
  }

  @Test
  void servesPartitionsAndRangesFromMemory() throws Exception {
    assertServes(new ShuffleBlockId(1, 2, 0), 0, 400);
    assertServes(new ShuffleBlockId(1, 2, 1), 400, 400);
    assertServes(new ShuffleBlockBatchId(1, 2, 1, 3), 400, 1000);
  }

  @Test
  void refusesPartitionsThatAreNotThereWithoutPinningTheRest() {
    for (BlockId id :
        new BlockId[] {
          new ShuffleBlockId(1, 2, 3),
          new ShuffleBlockId(1, 2, -1),
          new ShuffleBlockBatchId(1, 2, 2, 1)
        }) {
      assertThrows(
          IndexOutOfBoundsException.class, () -> resolver.getBlockData(id, Option.empty()));
    }
  }

  @Test
  void removesWhatIsInMemory() {
    resolver.removeDataByMap(1, 2);
    assertEquals(false, store.contains(1, 2));
  }

  @Test
  void migratesAsDataFileFirstAndThenItsIndex() throws Exception {
    var blocks = resolver.getMigrationBlocks(new ShuffleBlockInfo(1, 2));
    assertEquals(2, blocks.size());
    Tuple2<BlockId, ManagedBuffer> index = blocks.apply(1);
    Tuple2<BlockId, ManagedBuffer> data = blocks.apply(0);
    assertEquals(new ShuffleIndexBlockId(1, 2, 0), index._1());
    assertEquals(new ShuffleDataBlockId(1, 2, 0), data._1());
    ByteBuffer offsets = index._2().nioByteBuffer();
    assertEquals(4 * Long.BYTES, offsets.remaining());
    for (long expected : new long[] {0, 400, 400, 1000}) {
      assertEquals(expected, offsets.getLong());
    }
    assertEquals(ByteBuffer.wrap(bytes), data._2().nioByteBuffer());
  }
}
