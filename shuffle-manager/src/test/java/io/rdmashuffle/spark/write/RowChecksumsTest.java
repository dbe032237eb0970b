package io.rdmashuffle.spark.write;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import io.rdmashuffle.spark.write.WriterFixture.Settings;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.serializer.KryoSerializer;
import org.apache.spark.shuffle.ShuffleWriteProcessor;
import org.apache.spark.shuffle.checksum.RowBasedChecksum;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import scala.Option;
import scala.Tuple2;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/** The checksum by which Spark SQL compares two attempts comes with the status of the task. */
class RowChecksumsTest {
  private static final ClassTag<Object> OBJECT = ClassTag$.MODULE$.Object();

  @TempDir static Path localDir;

  @Test
  void theStatusCarriesTheChecksumOfTheRows() throws IOException {
    List<Tuple2<Object, Object>> records = Records.mixed(Records.random("rows"), 1000, 100);
    List<Tuple2<Object, Object>> shuffled = new ArrayList<>(records);
    Collections.shuffle(shuffled, Records.random("order"));
    JavaSparkContext context = WriterFixture.newContext(localDir);
    try {
      long first = checksumAfter(records);
      assertNotEquals(0, first);
      assertEquals(first, checksumAfter(shuffled));
      assertNotEquals(first, checksumAfter(records.subList(1, records.size())));
    } finally {
      context.stop();
    }
  }

  private static long checksumAfter(List<Tuple2<Object, Object>> records) throws IOException {
    Settings settings = new Settings().partitions(5);
    settings.serializer = new KryoSerializer(settings.conf);
    settings.dependency = dependency(settings);
    try (WriterFixture fixture = new WriterFixture(settings)) {
      fixture.writer.write(Records.iterator(records));
      return fixture.writer.stop(true).get().checksumValue();
    }
  }

  private static ShuffleDependency<Object, Object, Object> dependency(Settings settings) {
    ShuffleDependency<Object, Object, Object> plain =
        WriterFixture.dependency(settings.partitioner, settings.serializer);
    RowBasedChecksum[] checksums = new RowBasedChecksum[settings.partitioner.numPartitions()];
    Arrays.setAll(checksums, i -> new HashChecksum());
    return new ShuffleDependency<>(
        plain.rdd(),
        settings.partitioner,
        settings.serializer,
        Option.empty(),
        Option.empty(),
        false,
        new ShuffleWriteProcessor(),
        checksums,
        false,
        false,
        OBJECT,
        OBJECT,
        OBJECT);
  }

  private static final class HashChecksum extends RowBasedChecksum {
    private static final long serialVersionUID = 1L;

    @Override
    public long calculateRowChecksum(Object key, Object value) {
      return 31L * key.hashCode() + Arrays.hashCode((byte[]) value);
    }
  }
}
