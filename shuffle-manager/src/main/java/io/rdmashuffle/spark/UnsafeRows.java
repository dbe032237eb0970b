package io.rdmashuffle.spark;

import java.lang.reflect.Field;
import org.apache.spark.serializer.Serializer;
import org.apache.spark.util.AccumulatorV2;

/**
 * What the plugin knows of the serializer of Spark SQL, so that rows need not pass through its
 * streams, whose locks and buffers cost more than the copy of a short row: it writes the length of
 * a row as an int, highest byte first, and then the row's bytes; keys are left out, since they only
 * chose the partition; and it adds the rows' lengths to a metric.
 *
 * <p>The same from Spark 3.5 to 4.2, which {@code CoreTest} checks against each.
 */
public final class UnsafeRows {
  private static final String SERIALIZER = "org.apache.spark.sql.execution.UnsafeRowSerializer";

  private final int numFields;
  private final AccumulatorV2<Object, ?> dataSize;

  private UnsafeRows(int numFields, AccumulatorV2<Object, ?> dataSize) {
    this.numFields = numFields;
    this.dataSize = dataSize;
  }

  /**
   * What is known of a serializer.
   *
   * @return null when it is another one, or does not look as expected; then its own streams serve
   */
  public static UnsafeRows of(Serializer serializer) {
    if (!serializer.getClass().getName().equals(SERIALIZER)) {
      return null;
    }
    try {
      @SuppressWarnings("unchecked")
      AccumulatorV2<Object, ?> dataSize =
          (AccumulatorV2<Object, ?>) field(serializer, "dataSize").get(serializer);
      return new UnsafeRows(field(serializer, "numFields").getInt(serializer), dataSize);
    } catch (ReflectiveOperationException | RuntimeException e) {
      return null;
    }
  }

  private static Field field(Serializer serializer, String name) throws NoSuchFieldException {
    Field field = serializer.getClass().getDeclaredField(name);
    field.setAccessible(true);
    return field;
  }

  /** Fields of each row. */
  public int numFields() {
    return numFields;
  }

  /** Tells Spark SQL how many bytes of rows a task has written. */
  public void addDataSize(long bytes) {
    if (dataSize != null) {
      dataSize.add(bytes);
    }
  }
}
