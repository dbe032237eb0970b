package io.rdmashuffle.spark.resolve;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Supplier;
import org.apache.spark.SparkConf;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import scala.collection.immutable.Seq;

/** Creates the resolver that was compiled for the Spark that runs this. */
public final class Resolvers {
  private static final String NEWEST = RdmaShuffleBlockResolver.class.getName();

  private Resolvers() {}

  /**
   * A resolver for one process.
   *
   * @param sparks the sort shuffle's, whose files it looks after
   * @param memory map outputs in memory; gives null as long as there are none
   */
  public static IndexShuffleBlockResolver create(
      SparkConf conf, IndexShuffleBlockResolver sparks, Supplier<MemoryOutputs> memory) {
    try {
      return Class.forName(className())
          .asSubclass(IndexShuffleBlockResolver.class)
          .getDeclaredConstructor(SparkConf.class, IndexShuffleBlockResolver.class, Supplier.class)
          .newInstance(conf, sparks, memory);
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      throw new IllegalStateException(className() + " could not be created", e.getCause());
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("the plugin's jar has no usable " + className(), e);
    }
  }

  /** By the signatures themselves, which a vendor's release may have ahead of its number. */
  private static String className() {
    try {
      if (!isImmutableSeq(IndexShuffleBlockResolver.class.getMethod("getStoredShuffles"))) {
        return NEWEST + "Scala212";
      }
      boolean takesConcurrentMap =
          ConcurrentMap.class
              == IndexShuffleBlockResolver.class.getMethod("taskIdMapsForShuffle").getReturnType();
      return takesConcurrentMap ? NEWEST : NEWEST + "Before41";
    } catch (NoSuchMethodException e) {
      throw new IllegalStateException("Spark's resolver has an unexpected shape", e);
    }
  }

  private static boolean isImmutableSeq(Method method) {
    return Seq.class == method.getReturnType();
  }
}
