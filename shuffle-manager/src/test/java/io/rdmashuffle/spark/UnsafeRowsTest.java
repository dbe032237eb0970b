package io.rdmashuffle.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import org.apache.spark.SparkConf;
import org.apache.spark.serializer.JavaSerializer;
import org.apache.spark.serializer.KryoSerializer;
import org.apache.spark.sql.execution.UnsafeRowSerializer;
import org.apache.spark.sql.execution.metric.SQLMetric;
import org.junit.jupiter.api.Test;

class UnsafeRowsTest {
  private static final long NOTHING_YET = -1;

  @Test
  void sparkSqlsSerializerIsKnownWithItsFieldsAndItsMetric() {
    SQLMetric metric = new SQLMetric("size", NOTHING_YET);
    UnsafeRows rows = UnsafeRows.of(new UnsafeRowSerializer(7, metric));
    assertNotNull(rows);
    assertEquals(7, rows.numFields());
    rows.addDataSize(5);
    rows.addDataSize(6);
    assertEquals(11, metric.value());
  }

  @Test
  void oneWithoutAMetricIsKnownToo() {
    UnsafeRows rows = UnsafeRows.of(new UnsafeRowSerializer(1, null));
    assertNotNull(rows);
    rows.addDataSize(5);
  }

  @Test
  void othersAreNot() {
    SparkConf conf = new SparkConf(false);
    assertNull(UnsafeRows.of(new KryoSerializer(conf)));
    assertNull(UnsafeRows.of(new JavaSerializer(conf)));
  }
}
