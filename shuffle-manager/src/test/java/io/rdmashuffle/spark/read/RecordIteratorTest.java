package io.rdmashuffle.spark.read;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.TaskContext;
import org.apache.spark.TaskContext$;
import org.apache.spark.executor.TempShuffleReadMetrics;
import org.apache.spark.serializer.JavaSerializer;
import org.apache.spark.serializer.KryoSerializer;
import org.apache.spark.serializer.SerializationStream;
import org.apache.spark.serializer.Serializer;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.ShuffleBlockId;
import org.junit.jupiter.api.Test;
import scala.Product2;
import scala.Tuple2;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

class RecordIteratorTest {
  private static final ClassTag<Object> OBJECT = ClassTag$.MODULE$.Object();

  /** Three blocks, the second without a record. */
  private static final List<List<String>> BLOCKS =
      List.of(List.of("a", "b", "c"), List.of(), List.of("d", "x".repeat(10_000)));

  private static final List<String> RECORDS = List.of("a", "b", "c", "d", "x".repeat(10_000));

  private final TaskContext task = TaskContext$.MODULE$.empty();
  private final TempShuffleReadMetrics metrics = task.taskMetrics().createTempShuffleReadMetrics();

  @Test
  void recordsOfConcatenatedBlocksAreReadInOrderAndCounted() {
    Serializer kryo = new KryoSerializer(new SparkConf(false));
    assertEquals(RECORDS, read(kryo, true));
    assertEquals(RECORDS.size(), task.taskMetrics().shuffleReadMetrics().recordsRead());
  }

  @Test
  void blocksWithHeadersOfTheirOwnAreReadOneByOne() {
    Serializer java = new JavaSerializer(new SparkConf(false));
    assertFalse(java.supportsRelocationOfSerializedObjects());
    assertEquals(RECORDS, read(java, false));
    assertEquals(RECORDS.size(), task.taskMetrics().shuffleReadMetrics().recordsRead());
  }

  private List<String> read(Serializer serializer, boolean isConcatenable) {
    RecordIterator<String, String> records =
        new RecordIterator<>(
            blocks(serializer),
            in -> serializer.newInstance().deserializeStream(in).asKeyValueIterator(),
            metrics,
            task,
            isConcatenable);
    List<String> read = new ArrayList<>();
    while (records.hasNext()) {
      Product2<String, String> record = records.next();
      assertEquals(record._1(), record._2());
      read.add(record._1());
    }
    return read;
  }

  private static scala.collection.Iterator<Tuple2<BlockId, InputStream>> blocks(
      Serializer serializer) {
    List<Tuple2<BlockId, InputStream>> blocks = new ArrayList<>();
    for (List<String> records : BLOCKS) {
      blocks.add(
          new Tuple2<>(
              new ShuffleBlockId(0, blocks.size(), 0),
              new ByteArrayInputStream(serialize(serializer, records))));
    }
    Iterator<Tuple2<BlockId, InputStream>> iterator = blocks.iterator();
    return CollectionConverters.asScala(iterator);
  }

  private static byte[] serialize(Serializer serializer, List<String> records) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (SerializationStream stream = serializer.newInstance().serializeStream(bytes)) {
      for (String record : records) {
        stream.writeKey(record, OBJECT);
        stream.writeValue(record, OBJECT);
      }
    }
    return bytes.toByteArray();
  }
}
