package io.rdmashuffle.spark.write;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.KryoSerializable;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import io.rdmashuffle.spark.write.WriterFixture.Settings;
import io.rdmashuffle.store.ChecksumAlgorithm;
import io.rdmashuffle.store.MapOutput;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.Partitioner;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskKilledException;
import org.apache.spark.memory.MemoryConsumer;
import org.apache.spark.memory.MemoryMode;
import org.apache.spark.scheduler.MapStatus;
import org.apache.spark.serializer.JavaSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import scala.Tuple2;

/** What goes in comes out, whatever the settings and however little memory; nothing stays. */
class DirectShuffleWriterTest extends WriterTestBase {
  private static final long TINY_MEMORY = 10L * WriterFixture.PAGE_LENGTH;

  @ParameterizedTest
  @CsvSource({
    "lz4, false",
    "lz4, true",
    "zstd, false",
    "zstd, true",
    "snappy, false",
    "snappy, true",
    "lzf, false",
    "off, false",
    "off, true",
    "io.rdmashuffle.spark.write.UnknownCodec, false",
    "io.rdmashuffle.spark.write.UnknownCodec, true",
  })
  void everyCodecWithAndWithoutSpills(String codec, boolean isEncrypting) throws IOException {
    Random random = Records.random(codec);
    for (long memory : new long[] {64L << 20, TINY_MEMORY}) {
      Settings settings = new Settings().partitions(17);
      settings.isEncrypting = isEncrypting;
      settings.taskMemoryBytes = memory;
      if (codec.equals("off")) {
        settings.set("spark.shuffle.compress", "false");
      } else {
        settings.set("spark.io.compression.codec", codec);
      }
      List<Tuple2<Object, Object>> records = Records.mixed(random, 5000, 3000);
      try (WriterFixture fixture = new WriterFixture(settings)) {
        fixture.write(records);
        fixture.assertWritten(records);
        boolean isSpilled = fixture.task.taskMetrics().diskBytesSpilled() > 0;
        assertEquals(memory == TINY_MEMORY, isSpilled);
        assertEquals(isSpilled, fixture.task.taskMetrics().memoryBytesSpilled() > 0);
        assertTrue(fixture.task.taskMetrics().peakExecutionMemory() > 0);
        assertTrue(fixture.metrics.writeTime() > 0);
        assertEquals(1, fixture.tier.published.get());
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 200, 5000, 100_000})
  void anyNumberOfPartitions(int numPartitions) throws IOException {
    Random random = Records.random("partitions");
    for (long memory : new long[] {64L << 20, TINY_MEMORY}) {
      Settings settings = new Settings().partitions(numPartitions);
      settings.taskMemoryBytes = memory;
      List<Tuple2<Object, Object>> records = Records.mixed(random, 20_000, 200);
      try (WriterFixture fixture = new WriterFixture(settings)) {
        fixture.write(records);
        fixture.assertWritten(records);
      }
    }
  }

  @Test
  void theLastOfAllPartitions() throws IOException {
    int most = PackedPointer.MAX_PARTITIONS;
    Settings settings = new Settings().partitions(most);
    settings.budgetBytes = 512L << 20;
    settings.checksums = ChecksumAlgorithm.NONE;
    try (WriterFixture fixture = new WriterFixture(settings)) {
      fixture.write(List.of(new Tuple2<>(most - 1, "last"), new Tuple2<>(0, "first")));
      assertTrue(fixture.writer.getPartitionLengths()[most - 1] > 0);
      assertTrue(fixture.writer.getPartitionLengths()[0] > 0);
      assertEquals(0, fixture.writer.getPartitionLengths()[most - 2]);
      fixture.assertNothingHeld();
    }
  }

  @Test
  void recordsLargerThanAPage() throws IOException {
    Random random = Records.random("large records");
    List<Tuple2<Object, Object>> records = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      records.addAll(Records.ofLength(random, 3, WriterFixture.PAGE_LENGTH - 40 + i * 5));
      records.addAll(Records.ofLength(random, 1, random.nextInt(6 * WriterFixture.PAGE_LENGTH)));
      records.addAll(Records.mixed(random, 50, 100));
    }
    for (long memory : new long[] {64L << 20, TINY_MEMORY}) {
      Settings settings = new Settings();
      settings.taskMemoryBytes = memory;
      try (WriterFixture fixture = new WriterFixture(settings)) {
        fixture.write(records);
        fixture.assertWritten(records);
      }
    }
  }

  @Test
  void taskMemoryMayLieOutsideTheHeap() throws IOException {
    Random random = Records.random("off-heap");
    for (long memory : new long[] {64L << 20, TINY_MEMORY}) {
      Settings settings =
          new Settings()
              .partitions(30)
              .set("spark.memory.offHeap.enabled", "true")
              .set("spark.memory.offHeap.size", String.valueOf(memory));
      List<Tuple2<Object, Object>> records =
          Records.mixed(random, 5000, 3 * WriterFixture.PAGE_LENGTH);
      try (WriterFixture fixture = new WriterFixture(settings)) {
        assertEquals(MemoryMode.OFF_HEAP, fixture.memory.getTungstenMemoryMode());
        fixture.write(records);
        fixture.assertWritten(records);
      }
    }
  }

  @Test
  void noRecordsMakeAnEmptyOutput() throws IOException {
    try (WriterFixture fixture = new WriterFixture(new Settings().partitions(4))) {
      fixture.write(List.of());
      fixture.assertWritten(List.of());
      assertArrayEquals(new long[4], fixture.writer.getPartitionLengths());
      assertEquals(1, fixture.tier.published.get());
    }
  }

  @ParameterizedTest
  @EnumSource
  void checksumsOfEveryKind(ChecksumAlgorithm algorithm) throws IOException {
    Settings settings = new Settings().partitions(50);
    settings.checksums = algorithm;
    List<Tuple2<Object, Object>> records = Records.mixed(Records.random("sums"), 30, 3000);
    try (WriterFixture fixture = new WriterFixture(settings)) {
      fixture.write(records);
      fixture.assertWritten(records);
    }
  }

  @Test
  void checksumsCanBeSwitchedOff() throws IOException {
    Settings settings = new Settings().set("spark.shuffle.checksum.enabled", "false");
    try (WriterFixture fixture = new WriterFixture(settings)) {
      fixture.write(List.of(new Tuple2<>(1, "x")));
      MapOutput output = fixture.tier.store().get(fixture.dependency.shuffleId(), fixture.taskId);
      assertEquals(ChecksumAlgorithm.NONE, output.checksumAlgorithm());
    }
  }

  @Test
  void theStatusTellsSizesAndTask() throws IOException {
    try (WriterFixture fixture = new WriterFixture(new Settings().partitions(2))) {
      fixture.writer.write(Records.iterator(List.of(new Tuple2<>(1, "x"))));
      MapStatus status = fixture.writer.stop(true).get();
      assertEquals(fixture.taskId, status.mapId());
      assertEquals(SparkEnv.get().blockManager().shuffleServerId(), status.location());
      assertEquals(0, status.getSizeForBlock(0));
      assertTrue(status.getSizeForBlock(1) > 0);
      assertTrue(fixture.writer.stop(true).isEmpty());
    }
  }

  @Test
  void spentBudgetMovesTheOutputToFiles() throws IOException {
    Random random = Records.random("budget");
    for (long memory : new long[] {64L << 20, TINY_MEMORY}) {
      Settings settings = new Settings().partitions(20);
      settings.budgetBytes = 1 << 20;
      settings.taskMemoryBytes = memory;
      List<Tuple2<Object, Object>> records = Records.ofLength(random, 3000, 1000);
      try (WriterFixture fixture = new WriterFixture(settings)) {
        fixture.write(records);
        fixture.assertWritten(records);
        assertNull(fixture.tier.store().get(fixture.dependency.shuffleId(), fixture.taskId));
        assertEquals(0, fixture.tier.allocatedBytes());
        assertEquals(1, fixture.tier.publishedInFiles.get());
        assertEquals(1, fixture.tier.gauge("outputsBeyondBudget"));
        // The output, its index and its checksums, and no spill.
        assertEquals(3, WriterFixture.filesUnder(localDir).size());
      }
    }
  }

  @Test
  void afterAnOutputThatDidNotFitTheNextOfItsShuffleGoesToFilesAtOnce() throws IOException {
    Settings settings = new Settings().partitions(20);
    settings.budgetBytes = 1 << 20;
    try (WriterFixture fixture = new WriterFixture(settings)) {
      fixture.write(Records.ofLength(Records.random("budget"), 3000, 1000));
      int shuffleId = fixture.dependency.shuffleId();
      assertEquals(0, memoryOfAnotherOutput(fixture, shuffleId));
      assertEquals(2, fixture.tier.gauge("outputsBeyondBudget"));
      assertTrue(memoryOfAnotherOutput(fixture, shuffleId + 1) > 0);
    }
  }

  /** Slab memory that an output takes for its first bytes; it is aborted then. */
  private static long memoryOfAnotherOutput(WriterFixture fixture, int shuffleId)
      throws IOException {
    TieredMapOutputWriter output =
        new TieredMapOutputWriter(
            fixture.tier.tiers(), shuffleId, fixture.taskId + 1, 20, ChecksumAlgorithm.NONE);
    OutputStream partition = output.getPartitionWriter(0).openStream();
    partition.write(new byte[1000]);
    long allocated = fixture.tier.allocatedBytes();
    output.abort(new IOException("of the test"));
    return allocated;
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 7, 200})
  void serializersWhoseRecordsDependOnEachOther(int numPartitions) throws IOException {
    Random random = Records.random("java");
    List<Tuple2<Object, Object>> records = Records.mixed(random, 5000, 3000);
    String shared = "written once, then referred to";
    for (int i = 0; i < 5000; i++) {
      records.add(random.nextInt(records.size()), new Tuple2<>(random.nextInt(), shared));
    }
    for (long memory : new long[] {64L << 20, TINY_MEMORY}) {
      Settings settings = new Settings().partitions(numPartitions);
      settings.serializer = new JavaSerializer(settings.conf);
      settings.taskMemoryBytes = memory;
      try (WriterFixture fixture = new WriterFixture(settings)) {
        assertFalse(fixture.dependency.serializer().supportsRelocationOfSerializedObjects());
        fixture.write(records);
        fixture.assertWritten(records);
        assertEquals(memory == TINY_MEMORY, fixture.task.taskMetrics().diskBytesSpilled() > 0);
      }
    }
  }

  @Test
  void anOperatorUpstreamMayTakeTheMemory() throws IOException {
    List<Tuple2<Object, Object>> records = Records.mixed(Records.random("others"), 3000, 500);
    Settings settings = new Settings();
    settings.taskMemoryBytes = 1 << 20;
    try (WriterFixture fixture = new WriterFixture(settings)) {
      Other other = new Other(fixture);
      AtomicLong granted = new AtomicLong();
      fixture.writer.write(
          Records.iterator(
              records,
              i -> {
                if (i == 1000) {
                  granted.set(other.acquireMemory(settings.taskMemoryBytes - (64 << 10)));
                  other.freeMemory(granted.get());
                }
              }));
      assertTrue(fixture.writer.stop(true).isDefined());
      assertEquals(settings.taskMemoryBytes - (64 << 10), granted.get());
      assertTrue(fixture.task.taskMetrics().diskBytesSpilled() > 0);
      fixture.assertWritten(records);
    }
  }

  @Test
  void anotherThreadDoesNotMakeItSpill() throws IOException {
    List<Tuple2<Object, Object>> records = Records.mixed(Records.random("thread"), 3000, 100);
    Settings settings = new Settings();
    settings.taskMemoryBytes = 1 << 20;
    try (WriterFixture fixture = new WriterFixture(settings)) {
      Other other = new Other(fixture);
      AtomicLong granted = new AtomicLong();
      fixture.writer.write(
          Records.iterator(
              records,
              i -> {
                if (i == 1000) {
                  Thread thread =
                      new Thread(() -> granted.set(other.acquireMemory(settings.taskMemoryBytes)));
                  thread.start();
                  join(thread);
                  other.freeMemory(granted.get());
                }
              }));
      assertTrue(fixture.writer.stop(true).isDefined());
      assertTrue(granted.get() > 0 && granted.get() < settings.taskMemoryBytes);
      assertEquals(0, fixture.task.taskMetrics().diskBytesSpilled());
      fixture.assertWritten(records);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void failuresLeaveNothing(boolean isSpilling) throws IOException {
    Random random = Records.random("failures");
    for (int kind = 0; kind < 4; kind++) {
      int failing = kind;
      Settings settings = new Settings();
      settings.taskMemoryBytes = isSpilling ? TINY_MEMORY : 64L << 20;
      if (kind == 0) {
        settings.partitioner = new FailingPartitioner();
      }
      List<Tuple2<Object, Object>> records = Records.ofLength(random, 1000, 1000);
      records.add(new Tuple2<>(13, kind == 1 ? new Poison() : "fine"));
      try (WriterFixture fixture = new WriterFixture(settings)) {
        assertThrows(
            RuntimeException.class,
            () ->
                fixture.writer.write(
                    Records.iterator(
                        records,
                        i -> {
                          if (failing == 2 && i == 900) {
                            throw new IllegalStateException("upstream");
                          }
                          if (failing == 3 && i == 900) {
                            fixture.task.markInterrupted("stage cancelled");
                          }
                        })));
        fixture.assertNoTrace();
      }
    }
  }

  @Test
  void aKillWhileTheOutputIsWrittenLeavesNothing() throws IOException {
    try (WriterFixture fixture = new WriterFixture(new Settings())) {
      List<Tuple2<Object, Object>> records = Records.mixed(Records.random("kill"), 1000, 1000);
      TaskKilledException killed =
          assertThrows(
              TaskKilledException.class,
              () ->
                  fixture.writer.write(
                      Records.iterator(
                          records,
                          i -> {
                            if (i == 999) {
                              fixture.task.markInterrupted("another attempt succeeded");
                            }
                          })));
      assertEquals("another attempt succeeded", killed.reason());
      fixture.assertNoTrace();
    }
  }

  @Test
  void stoppingWithoutWritingIsAnErrorOnlyForSuccess() {
    try (WriterFixture fixture = new WriterFixture(new Settings())) {
      assertThrows(IllegalStateException.class, () -> fixture.writer.stop(true));
    }
    try (WriterFixture fixture = new WriterFixture(new Settings())) {
      fixture.assertNoTrace();
    }
  }

  @Test
  void mapStatusesCarryTheRowChecksum() {
    MapStatus status =
        MapStatuses.of(
            SparkEnv.get().blockManager().shuffleServerId(), new long[] {1, 0}, 77, 4711);
    assertEquals(77, status.mapId());
    assertEquals(4711, status.checksumValue());
    assertNotNull(status.location());
  }

  private static void join(Thread thread) {
    try {
      thread.join();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Another operator of the same task. */
  private static final class Other extends MemoryConsumer {
    Other(WriterFixture fixture) {
      super(fixture.memory, WriterFixture.PAGE_LENGTH, MemoryMode.ON_HEAP);
    }

    @Override
    public long spill(long size, MemoryConsumer trigger) {
      return 0;
    }
  }

  private static final class FailingPartitioner extends Partitioner {
    private static final long serialVersionUID = 1L;

    @Override
    public int numPartitions() {
      return 3;
    }

    @Override
    public int getPartition(Object key) {
      if (key.equals(13)) {
        throw new IllegalArgumentException("13");
      }
      return 1;
    }
  }

  /** Fails with half of its bytes written. */
  public static final class Poison implements KryoSerializable {
    @Override
    public void write(Kryo kryo, Output output) {
      output.writeBytes(new byte[10_000]);
      output.flush();
      throw new IllegalStateException("half-way");
    }

    @Override
    public void read(Kryo kryo, Input input) {}
  }
}
