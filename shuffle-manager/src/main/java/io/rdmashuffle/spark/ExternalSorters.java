package io.rdmashuffle.spark;

import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import org.apache.spark.TaskContext;
import org.apache.spark.serializer.Serializer;
import org.apache.spark.util.collection.ExternalSorter;
import scala.Option;

/**
 * Creates Spark's external sorter, whose constructor grew a sixth parameter in Spark 4.1: row-based
 * checksums, which our writers compute themselves.
 */
public final class ExternalSorters {
  private static final Constructor<?> CONSTRUCTOR = ExternalSorter.class.getConstructors()[0];

  private ExternalSorters() {}

  /**
   * A sorter for one task.
   *
   * @param aggregator Spark's aggregator, if records are to be combined
   * @param partitioner if records are to be grouped by partition
   * @param ordering of the keys, if records are to be sorted
   */
  @SuppressWarnings("unchecked")
  public static <K, V, C> ExternalSorter<K, V, C> create(
      TaskContext context,
      Option<?> aggregator,
      Option<?> partitioner,
      Option<?> ordering,
      Serializer serializer) {
    Class<?>[] types = CONSTRUCTOR.getParameterTypes();
    Object[] arguments = new Object[types.length];
    arguments[0] = context;
    arguments[1] = aggregator;
    arguments[2] = partitioner;
    arguments[3] = ordering;
    arguments[4] = serializer;
    if (types.length > 5) {
      arguments[5] = Array.newInstance(types[5].getComponentType(), 0);
    }
    try {
      return (ExternalSorter<K, V, C>) CONSTRUCTOR.newInstance(arguments);
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      throw new IllegalStateException("Spark's ExternalSorter could not be created", e.getCause());
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(
          "Spark's ExternalSorter has an unexpected constructor: " + CONSTRUCTOR, e);
    }
  }
}
