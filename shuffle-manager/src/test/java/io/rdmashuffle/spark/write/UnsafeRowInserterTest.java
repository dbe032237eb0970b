package io.rdmashuffle.spark.write;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.spark.SqlRows;
import io.rdmashuffle.spark.write.WriterFixture.Settings;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.spark.io.LZ4CompressionCodec;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.execution.UnsafeRowSerializer;
import org.apache.spark.sql.execution.metric.SQLMetric;
import org.junit.jupiter.api.Test;
import scala.Tuple2;

/** What lies in pages, and in spilled files, of rows of Spark SQL is what Spark reads. */
class UnsafeRowInserterTest extends WriterTestBase {
  private static final int PARTITIONS = 5;
  private static final long NOTHING_YET = -1;

  private final Random random = Records.random("unsafe rows");
  private final SQLMetric dataSize = new SQLMetric("size", NOTHING_YET);

  @Test
  void sparkReadsTheRowsOfEveryPartition() throws IOException {
    // Many end behind a page's end, and some are longer than a page.
    assertWritten(settings(), SqlRows.random(random, 5_000, 3 * WriterFixture.PAGE_LENGTH));
  }

  @Test
  void rowsThatWereSpilledAreReadToo() throws IOException {
    Settings settings = settings();
    settings.taskMemoryBytes = 1 << 20;
    WriterFixture fixture =
        assertWritten(settings, SqlRows.random(random, 3_000, WriterFixture.PAGE_LENGTH));
    assertTrue(fixture.task.taskMetrics().diskBytesSpilled() > 0);
  }

  @Test
  void withoutRowsTheMetricStaysAsItWas() throws IOException {
    assertWritten(settings(), List.of());
    assertTrue(dataSize.isZero());
  }

  private Settings settings() {
    Settings settings = new Settings().partitions(PARTITIONS);
    settings.serializer = new UnsafeRowSerializer(SqlRows.FIELDS, dataSize);
    return settings;
  }

  private WriterFixture assertWritten(Settings settings, List<UnsafeRow> rows) throws IOException {
    List<Tuple2<Object, Object>> records = new ArrayList<>();
    List<List<UnsafeRow>> expected = new ArrayList<>();
    for (int i = 0; i < PARTITIONS; i++) {
      expected.add(new ArrayList<>());
    }
    long bytes = 0;
    for (UnsafeRow row : rows) {
      int partition = random.nextInt(PARTITIONS);
      records.add(new Tuple2<>(partition, row));
      expected.get(partition).add(row);
      bytes += row.getSizeInBytes();
    }
    try (WriterFixture fixture = new WriterFixture(settings)) {
      fixture.write(records);
      LZ4CompressionCodec codec = new LZ4CompressionCodec(settings.conf);
      for (int i = 0; i < PARTITIONS; i++) {
        byte[] block = fixture.block(i);
        List<UnsafeRow> read =
            block.length == 0
                ? List.of()
                : SqlRows.read(codec.compressedInputStream(new ByteArrayInputStream(block)));
        assertEquals(expected.get(i), read);
      }
      fixture.assertNothingHeld();
      if (!rows.isEmpty()) {
        assertEquals(bytes, dataSize.value());
      }
      return fixture;
    }
  }
}
