package io.rdmashuffle.spark.write;

import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.TaskContext;
import org.apache.spark.util.collection.ExternalSorter;
import scala.Option;

/**
 * Creates Spark's external sorter for the map side of a shuffle. Its constructor takes row
 * checksums from Spark 4.1 on; those are left to {@link RowChecksums}.
 */
final class MapSideSorters {
  private static final Constructor<?> CONSTRUCTOR = ExternalSorter.class.getConstructors()[0];

  private MapSideSorters() {}

  /** A sorter that groups by partition, and combines where the shuffle does so on the map side. */
  @SuppressWarnings("unchecked")
  static <K, V, C> ExternalSorter<K, V, C> create(
      ShuffleDependency<K, V, C> dependency, TaskContext context) {
    boolean isCombining = dependency.mapSideCombine();
    Class<?>[] types = CONSTRUCTOR.getParameterTypes();
    Object[] arguments = new Object[types.length];
    arguments[0] = context;
    arguments[1] = isCombining ? dependency.aggregator() : Option.empty();
    arguments[2] = Option.apply(dependency.partitioner());
    arguments[3] = isCombining ? dependency.keyOrdering() : Option.empty();
    arguments[4] = dependency.serializer();
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
