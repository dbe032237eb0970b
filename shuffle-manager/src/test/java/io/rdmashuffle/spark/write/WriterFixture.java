package io.rdmashuffle.spark.write;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.spark.tier.TestTiers;
import io.rdmashuffle.store.ChecksumAlgorithm;
import io.rdmashuffle.store.MapOutput;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import java.util.zip.Adler32;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;
import java.util.zip.Checksum;
import org.apache.spark.Partitioner;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContextImpl;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.executor.ShuffleWriteMetrics;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.memory.TaskMemoryManager;
import org.apache.spark.memory.UnifiedMemoryManager;
import org.apache.spark.rdd.ShuffledRDD;
import org.apache.spark.security.CryptoStreamUtils$;
import org.apache.spark.serializer.KryoSerializer;
import org.apache.spark.serializer.Serializer;
import org.apache.spark.serializer.SerializerManager;
import org.apache.spark.shuffle.BaseShuffleHandle;
import org.apache.spark.shuffle.ShuffleHandle;
import org.apache.spark.shuffle.ShuffleWriter;
import org.apache.spark.shuffle.sort.BypassMergeSortShuffleHandle;
import org.apache.spark.shuffle.sort.SerializedShuffleHandle;
import org.apache.spark.storage.ShuffleBlockId;
import scala.Option;
import scala.Tuple2;
import scala.collection.Iterator;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/**
 * A direct writer outside of any job, with settings, task memory and a block store of its own, and
 * what it takes to read back what it wrote. A Spark context lends it everything else.
 */
final class WriterFixture implements AutoCloseable {
  static final int PAGE_LENGTH = 64 << 10;

  private static final AtomicLong TASK_IDS = new AtomicLong(1);
  private static final ClassTag<Object> OBJECT = ClassTag$.MODULE$.Object();

  final TestTiers tier;
  final TaskContextImpl task;
  final TaskMemoryManager memory;
  final ShuffleWriteMetrics metrics = new ShuffleWriteMetrics();
  final ShuffleDependency<Object, Object, Object> dependency;
  final ShuffleWriter<Object, Object> writer;
  final long taskId = TASK_IDS.getAndIncrement();
  final SparkConf conf;

  private final int numPartitions;
  private final Serializer serializer;
  private final SerializerManager serializerManager;
  private final ChecksumAlgorithm checksumAlgorithm;

  /** What a test may choose; the rest is as in production. */
  static final class Settings {
    Partitioner partitioner = new ModuloPartitioner(3);
    Serializer serializer;
    long taskMemoryBytes = 64L << 20;
    long budgetBytes = 64L << 20;
    ChecksumAlgorithm checksums = ChecksumAlgorithm.ADLER32;
    boolean isEncrypting;
    boolean isGrouping;
    ShuffleDependency<Object, Object, Object> dependency;
    final SparkConf conf = SparkEnv.get().conf().clone();

    Settings partitions(int count) {
      partitioner = new ModuloPartitioner(count);
      return this;
    }

    Settings set(String key, String value) {
      conf.set(key, value);
      return this;
    }
  }

  WriterFixture(Settings settings) {
    conf = settings.conf.set("spark.buffer.pageSize", PAGE_LENGTH + "b");
    numPartitions = settings.partitioner.numPartitions();
    serializer = settings.serializer == null ? new KryoSerializer(conf) : settings.serializer;
    checksumAlgorithm = settings.checksums;
    conf.set("spark.shuffle.checksum.algorithm", settings.checksums.name());
    tier = TestTiers.inMemory(settings.budgetBytes);
    memory =
        new TaskMemoryManager(
            new UnifiedMemoryManager(conf, settings.taskMemoryBytes, 0, 1), taskId);
    task =
        new TaskContextImpl(
            0,
            0,
            0,
            taskId,
            0,
            1,
            memory,
            new Properties(),
            null,
            TaskMetrics.empty(),
            1,
            scala.collection.immutable.Map$.MODULE$.empty());
    dependency =
        settings.dependency == null
            ? dependency(settings.partitioner, serializer)
            : settings.dependency;
    serializerManager =
        new SerializerManager(
            serializer,
            conf,
            settings.isEncrypting
                ? Option.apply(CryptoStreamUtils$.MODULE$.createKey(conf))
                : Option.empty());
    DirectWriters writers =
        new DirectWriters(tier.tiers(), conf, SparkEnv.get().blockManager(), serializerManager);
    writer = writers.create(handle(settings.isGrouping), taskId, task, metrics);
  }

  private ShuffleHandle handle(boolean isGrouping) {
    int id = dependency.shuffleId();
    if (isGrouping) {
      return new BaseShuffleHandle<>(id, dependency);
    }
    return serializer.supportsRelocationOfSerializedObjects()
        ? new SerializedShuffleHandle<>(id, dependency)
        : new BypassMergeSortShuffleHandle<>(id, dependency);
  }

  /** A context whose temporary files go to a directory of their own. */
  static JavaSparkContext newContext(Path localDir) {
    return new JavaSparkContext(
        new SparkConf()
            .setMaster("local[1]")
            .setAppName("test")
            .set("spark.local.dir", localDir.toString())
            .set("spark.shuffle.spill.initialMemoryThreshold", "64k")
            .set("spark.ui.enabled", "false"));
  }

  static ShuffleDependency<Object, Object, Object> dependency(
      Partitioner partitioner, Serializer serializer) {
    JavaPairRDD<Object, Object> none =
        new JavaSparkContext(SparkContext.getOrCreate())
            .<Tuple2<Object, Object>>parallelize(List.of(), 1)
            .mapToPair(pair -> pair);
    ShuffledRDD<Object, Object, Object> shuffled =
        new ShuffledRDD<Object, Object, Object>(none.rdd(), partitioner, OBJECT, OBJECT, OBJECT)
            .setSerializer(serializer);
    @SuppressWarnings("unchecked")
    ShuffleDependency<Object, Object, Object> dependency =
        (ShuffleDependency<Object, Object, Object>) shuffled.getDependencies().apply(0);
    return dependency;
  }

  /** Files below a directory, of which Spark's local directories keep none when all is well. */
  static List<Path> filesUnder(Path directory) throws IOException {
    try (Stream<Path> paths = Files.walk(directory)) {
      return paths.filter(Files::isRegularFile).toList();
    }
  }

  /** Writes the records and stops with success. */
  void write(List<Tuple2<Object, Object>> records) throws IOException {
    writer.write(Records.iterator(records));
    assertTrue(writer.stop(true).isDefined());
  }

  /** Checks the stored output against the records, and the books of the task. */
  void assertWritten(List<Tuple2<Object, Object>> records) throws IOException {
    List<List<Tuple2<Object, Object>>> expected = new ArrayList<>();
    for (int i = 0; i < numPartitions; i++) {
      expected.add(new ArrayList<>());
    }
    for (Tuple2<Object, Object> record : records) {
      expected.get(dependency.partitioner().getPartition(record._1())).add(record);
    }
    long total = 0;
    for (int i = 0; i < numPartitions; i++) {
      byte[] block = block(i);
      total += block.length;
      assertEquals(block.length, writer.getPartitionLengths()[i]);
      Records.assertSame(expected.get(i), block.length == 0 ? List.of() : decode(i, block));
    }
    assertEquals(total, metrics.bytesWritten());
    assertEquals(records.size(), metrics.recordsWritten());
    assertChecksums();
    assertNothingHeld();
  }

  private void assertChecksums() throws IOException {
    MapOutput output = tier.store().get(dependency.shuffleId(), taskId);
    if (output == null || checksumAlgorithm == ChecksumAlgorithm.NONE) {
      return;
    }
    long[] expected = new long[numPartitions];
    for (int i = 0; i < numPartitions; i++) {
      Checksum checksum =
          switch (checksumAlgorithm) {
            case CRC32 -> new CRC32();
            case CRC32C -> new CRC32C();
            default -> new Adler32();
          };
      checksum.update(block(i));
      expected[i] = checksum.getValue();
    }
    assertArrayEquals(expected, output.checksums());
    assertEquals(checksumAlgorithm, output.checksumAlgorithm());
  }

  /** No task memory, and nothing that only this task knew of. */
  void assertNothingHeld() {
    assertEquals(0, memory.getMemoryConsumptionForThisTask());
    assertEquals(0, memory.cleanUpAllAllocatedMemory());
  }

  /** After a failure: no output, no slab memory. */
  void assertNoTrace() {
    assertNothingHeld();
    assertEquals(0, tier.store().outputCount());
    assertEquals(0, tier.allocatedBytes());
    assertTrue(writer.stop(false).isEmpty());
  }

  /** The stored bytes of a partition, from memory or from files. */
  byte[] block(int partition) throws IOException {
    MapOutput output = tier.store().get(dependency.shuffleId(), taskId);
    if (output == null) {
      return fileBlock(partition);
    }
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (ByteBuffer slice : output.slices(partition, partition + 1)) {
      byte[] copy = new byte[slice.remaining()];
      slice.get(copy);
      bytes.write(copy);
    }
    return bytes.toByteArray();
  }

  private byte[] fileBlock(int partition) throws IOException {
    ShuffleBlockId id = new ShuffleBlockId(dependency.shuffleId(), taskId, partition);
    try (InputStream in =
        TestTiers.sparkResolver().getBlockData(id, Option.empty()).createInputStream()) {
      return in.readAllBytes();
    }
  }

  /** The records of a stored partition. */
  List<Tuple2<Object, Object>> decode(int partition, byte[] block) {
    ShuffleBlockId id = new ShuffleBlockId(dependency.shuffleId(), taskId, partition);
    InputStream in = serializerManager.wrapStream(id, new ByteArrayInputStream(block));
    Iterator<Tuple2<Object, Object>> records =
        serializer.newInstance().deserializeStream(in).asKeyValueIterator();
    List<Tuple2<Object, Object>> list = new ArrayList<>();
    while (records.hasNext()) {
      list.add(records.next());
    }
    return list;
  }

  /** Drops the output as the end of its shuffle would. */
  @Override
  public void close() {
    tier.tiers().removeShuffle(dependency.shuffleId());
    assertEquals(0, tier.allocatedBytes());
    tier.close();
  }
}
