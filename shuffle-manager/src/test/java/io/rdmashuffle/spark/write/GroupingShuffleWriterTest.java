package io.rdmashuffle.spark.write;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.spark.write.WriterFixture.Settings;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.spark.Aggregator;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.TaskKilledException;
import org.apache.spark.serializer.JavaSerializer;
import org.apache.spark.shuffle.ShuffleWriteProcessor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import scala.Option;
import scala.Tuple2;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/** Records that stay objects until they are grouped, or are combined, come out right as well. */
class GroupingShuffleWriterTest extends WriterTestBase {
  private static final long TINY_MEMORY = 1 << 20;
  private static final ClassTag<Object> OBJECT = ClassTag$.MODULE$.Object();

  @ParameterizedTest
  @CsvSource({
    "lz4, false, 1",
    "lz4, false, 1000",
    "lz4, true, 20",
    "zstd, false, 20",
    "snappy, true, 1000",
    "off, false, 20",
    "off, true, 20",
    "io.rdmashuffle.spark.write.UnknownCodec, false, 20",
  })
  void everyCodecWithAndWithoutSpills(String codec, boolean isEncrypting, int numPartitions)
      throws IOException {
    Random random = Records.random(codec);
    for (long memory : new long[] {64L << 20, TINY_MEMORY}) {
      Settings settings = new Settings().partitions(numPartitions);
      settings.isGrouping = true;
      settings.serializer = new JavaSerializer(settings.conf);
      settings.isEncrypting = isEncrypting;
      settings.taskMemoryBytes = memory;
      if (codec.equals("off")) {
        settings.set("spark.shuffle.compress", "false");
      } else {
        settings.set("spark.io.compression.codec", codec);
      }
      List<Tuple2<Object, Object>> records = Records.mixed(random, 10_000, 3000);
      try (WriterFixture fixture = new WriterFixture(settings)) {
        assertInstanceOf(GroupingShuffleWriter.class, fixture.writer);
        fixture.write(records);
        fixture.assertWritten(records);
        assertEquals(memory == TINY_MEMORY, fixture.task.taskMetrics().diskBytesSpilled() > 0);
      }
    }
  }

  @Test
  void combinesOnTheMapSide() throws IOException {
    Random random = Records.random("sums");
    List<Tuple2<Object, Object>> records = new ArrayList<>();
    Map<Object, Long> expected = new HashMap<>();
    for (int i = 0; i < 100_000; i++) {
      int key = random.nextInt(30_000);
      records.add(new Tuple2<>(key, (long) i));
      expected.merge(key, (long) i, Long::sum);
    }
    for (long memory : new long[] {64L << 20, TINY_MEMORY}) {
      Settings settings = new Settings().partitions(300);
      settings.isGrouping = true;
      settings.serializer = new JavaSerializer(settings.conf);
      settings.taskMemoryBytes = memory;
      settings.dependency = summing(settings);
      try (WriterFixture fixture = new WriterFixture(settings)) {
        fixture.write(records);
        Map<Object, Long> actual = new HashMap<>();
        for (int i = 0; i < 300; i++) {
          fixture.decode(i, fixture.block(i)).forEach(r -> actual.put(r._1(), (Long) r._2()));
        }
        assertEquals(expected, actual);
        assertEquals(expected.size(), fixture.metrics.recordsWritten());
        fixture.assertNothingHeld();
      }
    }
  }

  @Test
  void spentBudgetMovesTheOutputToFiles() throws IOException {
    Settings settings = new Settings().partitions(20);
    settings.isGrouping = true;
    settings.budgetBytes = 1 << 20;
    List<Tuple2<Object, Object>> records = Records.ofLength(Records.random("budget"), 3000, 1000);
    try (WriterFixture fixture = new WriterFixture(settings)) {
      fixture.write(records);
      fixture.assertWritten(records);
      assertEquals(1, fixture.tier.publishedInFiles.get());
    }
  }

  @Test
  void failuresLeaveNothing() throws IOException {
    for (boolean isKilled : new boolean[] {false, true}) {
      Settings settings = new Settings();
      settings.isGrouping = true;
      settings.taskMemoryBytes = TINY_MEMORY;
      List<Tuple2<Object, Object>> records =
          Records.ofLength(Records.random("failures"), 3000, 1000);
      try (WriterFixture fixture = new WriterFixture(settings)) {
        Class<? extends RuntimeException> expected =
            isKilled ? TaskKilledException.class : IllegalStateException.class;
        assertThrows(
            expected,
            () ->
                fixture.writer.write(
                    Records.iterator(
                        records,
                        i -> {
                          if (i == 2900 && isKilled) {
                            fixture.task.markInterrupted("killed");
                          } else if (i == 2900) {
                            throw new IllegalStateException("upstream");
                          }
                        })));
        assertTrue(fixture.writer.stop(false).isEmpty());
        fixture.assertNoTrace();
      }
    }
  }

  private static ShuffleDependency<Object, Object, Object> summing(Settings settings) {
    ShuffleDependency<Object, Object, Object> plain =
        WriterFixture.dependency(settings.partitioner, settings.serializer);
    Aggregator<Object, Object, Object> sum =
        new Aggregator<>(v -> v, (c, v) -> (Long) c + (Long) v, (a, b) -> (Long) a + (Long) b);
    return new ShuffleDependency<>(
        plain.rdd(),
        settings.partitioner,
        settings.serializer,
        Option.empty(),
        Option.apply(sum),
        true,
        new ShuffleWriteProcessor(),
        OBJECT,
        OBJECT,
        OBJECT);
  }
}
