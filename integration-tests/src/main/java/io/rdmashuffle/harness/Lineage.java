package io.rdmashuffle.harness;

import org.apache.spark.Dependency;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.rdd.RDD;
import scala.collection.Seq;

/**
 * What an RDD rests on. We are compiled once for every Spark, whose list of dependencies is of
 * another type with Scala 2.12; so it is asked for by name.
 */
public final class Lineage {
  private Lineage() {}

  /** The number of the shuffle that the RDD reads. */
  public static int shuffleOf(RDD<?> rdd) {
    return shuffle(rdd).shuffleId();
  }

  /** The shuffle that the RDD reads. */
  public static ShuffleDependency<?, ?, ?> shuffle(RDD<?> rdd) {
    return (ShuffleDependency<?, ?, ?>) first(rdd);
  }

  /** The shuffle nearest to the end of the lineage. */
  public static int lastShuffleOf(RDD<?> rdd) {
    RDD<?> at = rdd;
    while (!(first(at) instanceof ShuffleDependency)) {
      at = first(at).rdd();
    }
    return shuffleOf(at);
  }

  private static Dependency<?> first(RDD<?> rdd) {
    try {
      return (Dependency<?>) ((Seq<?>) RDD.class.getMethod("dependencies").invoke(rdd)).apply(0);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("an RDD of Spark does not tell its dependencies", e);
    }
  }
}
