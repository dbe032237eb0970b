package io.rdmashuffle.spark.write;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.IntConsumer;
import scala.Product2;
import scala.Tuple2;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;

/** Records of integer keys and byte arrays. */
final class Records {
  private Records() {}

  /** A seed to print, so that a failure can be had again. */
  static Random random(String test) {
    long seed = Long.getLong("test.seed", System.nanoTime());
    System.out.println(test + " test.seed=" + seed);
    return new Random(seed);
  }

  /** Some have no bytes, most few, some many; half of them compress well. */
  static List<Tuple2<Object, Object>> mixed(Random random, int count, int mostBytes) {
    List<Tuple2<Object, Object>> records = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int bound = random.nextInt(10) == 0 ? mostBytes : Math.min(mostBytes, 100);
      byte[] value = new byte[random.nextInt(bound + 1)];
      if (random.nextBoolean()) {
        random.nextBytes(value);
      }
      // Skewed: a third of them have one key.
      int key = random.nextInt(3) == 0 ? 7 : random.nextInt();
      records.add(new Tuple2<>(key, value));
    }
    return records;
  }

  static List<Tuple2<Object, Object>> ofLength(Random random, int count, int bytes) {
    List<Tuple2<Object, Object>> records = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      byte[] value = new byte[bytes];
      random.nextBytes(value);
      records.add(new Tuple2<>(random.nextInt(), value));
    }
    return records;
  }

  static Iterator<Product2<Object, Object>> iterator(List<Tuple2<Object, Object>> records) {
    return iterator(records, i -> {});
  }

  /**
   * @param before called with the number of each record before it is handed out
   */
  static Iterator<Product2<Object, Object>> iterator(
      List<Tuple2<Object, Object>> records, IntConsumer before) {
    return new AbstractIterator<>() {
      private int next;

      @Override
      public boolean hasNext() {
        return next < records.size();
      }

      @Override
      public Product2<Object, Object> next() {
        before.accept(next);
        return records.get(next++);
      }
    };
  }

  static void assertSame(
      List<Tuple2<Object, Object>> expected, List<Tuple2<Object, Object>> actual) {
    assertEquals(expected.size(), actual.size());
    for (int i = 0; i < expected.size(); i++) {
      assertEquals(expected.get(i)._1(), actual.get(i)._1());
      if (expected.get(i)._2() instanceof byte[] bytes) {
        assertArrayEquals(bytes, (byte[]) actual.get(i)._2());
      } else {
        assertEquals(expected.get(i)._2(), actual.get(i)._2());
      }
    }
  }
}
