package io.rdmashuffle.spark.write;

import java.io.IOException;
import java.io.OutputStream;
import java.util.Arrays;
import org.apache.spark.serializer.SerializationStream;
import org.apache.spark.serializer.SerializerInstance;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/**
 * For serializers whose records depend on those before them, as Java's: one stream per partition,
 * cut into pieces that are sorted like records. The sort keeps the order of arrival and so do
 * spills, hence the pieces of a partition come out as the stream they were.
 *
 * <p>A partition that has records costs a serialization stream and a few kilobytes of heap, so this
 * is for few partitions: Spark allows its own writer of this kind 200.
 */
final class PartitionStreamsInserter implements RecordInserter {
  private static final ClassTag<Object> OBJECT = ClassTag$.MODULE$.Object();
  private static final int FIRST_PIECE = 256;
  private static final int LARGEST_PIECE = 8 << 10;

  private final RecordPages pages;
  private final SerializerInstance serializer;
  private final SerializationStream[] streams;

  PartitionStreamsInserter(RecordPages pages, SerializerInstance serializer, int numPartitions) {
    this.pages = pages;
    this.serializer = serializer;
    streams = new SerializationStream[numPartitions];
  }

  @Override
  public void insert(int partition, Object key, Object value) {
    SerializationStream stream = streams[partition];
    if (stream == null) {
      stream = serializer.serializeStream(new PieceStream(partition));
      streams[partition] = stream;
    }
    stream.writeKey(key, OBJECT);
    stream.writeValue(value, OBJECT);
  }

  @Override
  public void finish() {
    for (SerializationStream stream : streams) {
      if (stream != null) {
        stream.close();
      }
    }
    Arrays.fill(streams, null);
  }

  /** Streams of the JVM's heap need no closing when the task has failed. */
  @Override
  public void close() {}

  /** Collects bytes of one partition and passes them on when there are enough, and at the end. */
  private final class PieceStream extends OutputStream {
    private final int partition;
    private byte[] piece = new byte[FIRST_PIECE];
    private int length;

    PieceStream(int partition) {
      this.partition = partition;
    }

    @Override
    public void write(int value) throws IOException {
      makeRoom();
      piece[length++] = (byte) value;
    }

    @Override
    public void write(byte[] bytes, int offset, int count) throws IOException {
      int from = offset;
      int left = count;
      while (left > 0) {
        makeRoom();
        int run = Math.min(left, piece.length - length);
        System.arraycopy(bytes, from, piece, length, run);
        length += run;
        from += run;
        left -= run;
      }
    }

    private void makeRoom() throws IOException {
      if (length < piece.length) {
        return;
      }
      if (piece.length < LARGEST_PIECE) {
        piece = Arrays.copyOf(piece, 2 * piece.length);
      } else {
        passOn();
      }
    }

    private void passOn() throws IOException {
      pages.add(partition, piece, length);
      length = 0;
    }

    @Override
    public void close() throws IOException {
      if (length > 0) {
        passOn();
      }
      piece = null;
    }
  }
}
