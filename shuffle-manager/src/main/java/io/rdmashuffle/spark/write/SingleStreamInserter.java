package io.rdmashuffle.spark.write;

import java.io.IOException;
import org.apache.spark.serializer.SerializationStream;
import org.apache.spark.serializer.SerializerInstance;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/**
 * For serializers whose records may be put in any order once they are serialized: one stream, which
 * writes each record straight into the pages.
 */
final class SingleStreamInserter implements RecordInserter {
  private static final ClassTag<Object> OBJECT = ClassTag$.MODULE$.Object();

  private final RecordPages pages;
  private final SerializationStream stream;

  SingleStreamInserter(RecordPages pages, SerializerInstance serializer) {
    this.pages = pages;
    stream = serializer.serializeStream(pages.stream());
  }

  @Override
  public void insert(int partition, Object key, Object value) throws IOException {
    pages.begin();
    stream.writeKey(key, OBJECT);
    stream.writeValue(value, OBJECT);
    stream.flush();
    pages.end(partition);
  }

  @Override
  public void finish() {}

  @Override
  public void close() {
    stream.close();
  }
}
