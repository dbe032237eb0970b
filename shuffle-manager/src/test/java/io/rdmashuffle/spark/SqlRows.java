package io.rdmashuffle.spark;

import java.io.InputStream;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.spark.serializer.SerializationStream;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeRowWriter;
import org.apache.spark.sql.execution.UnsafeRowSerializer;
import scala.Tuple2;
import scala.collection.Iterator;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/** Rows of a number and of bytes, and Spark's own way of writing and reading them. */
public final class SqlRows {
  public static final int FIELDS = 2;

  private static final ClassTag<Object> OBJECT = ClassTag$.MODULE$.Object();

  private SqlRows() {}

  public static UnsafeRow row(long number, byte[] bytes) {
    UnsafeRowWriter writer = new UnsafeRowWriter(FIELDS);
    writer.reset();
    writer.zeroOutNullBytes();
    writer.write(0, number);
    writer.write(1, bytes);
    return writer.getRow().copy();
  }

  /** Rows of up to so many random bytes, most of them short. */
  public static List<UnsafeRow> random(Random random, int count, int mostBytes) {
    List<UnsafeRow> rows = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      byte[] bytes = new byte[random.nextInt(random.nextInt(10) == 0 ? mostBytes + 1 : 100)];
      random.nextBytes(bytes);
      rows.add(row(random.nextLong(), bytes));
    }
    return rows;
  }

  /** Writes rows by Spark's serializer. */
  public static void write(List<UnsafeRow> rows, OutputStream out) {
    try (SerializationStream stream =
        new UnsafeRowSerializer(FIELDS, null).newInstance().serializeStream(out)) {
      for (UnsafeRow row : rows) {
        stream.writeKey(0, OBJECT);
        stream.writeValue(row, OBJECT);
      }
    }
  }

  /** Reads rows by Spark's serializer. */
  public static List<UnsafeRow> read(InputStream in) {
    return copies(
        new UnsafeRowSerializer(FIELDS, null)
            .newInstance()
            .deserializeStream(in)
            .asKeyValueIterator());
  }

  /** All rows of an iterator that fills the same one again and again. */
  public static List<UnsafeRow> copies(Iterator<Tuple2<Object, Object>> records) {
    List<UnsafeRow> rows = new ArrayList<>();
    while (records.hasNext()) {
      rows.add(((UnsafeRow) records.next()._2()).copy());
    }
    return rows;
  }
}
