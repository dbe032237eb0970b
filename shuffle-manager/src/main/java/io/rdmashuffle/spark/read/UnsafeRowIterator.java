package io.rdmashuffle.spark.read;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.NoSuchElementException;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.unsafe.Platform;
import scala.Tuple2;
import scala.collection.AbstractIterator;

/**
 * Rows of Spark SQL, read from a stream that its serializer, or {@code UnsafeRowInserter}, wrote.
 * As with Spark's own iterator there is one row, which {@link #next()} fills anew and {@link
 * #hasNext()} leaves alone. Used by one thread.
 */
final class UnsafeRowIterator extends AbstractIterator<Tuple2<Object, Object>> {
  private static final int BUFFER_LENGTH = 32 << 10;
  private static final int FIRST_ROW_LENGTH = 1 << 10;
  private static final int UNKNOWN = -1;
  private static final int END = -2;

  private final InputStream in;
  private final UnsafeRow row;
  private final Tuple2<Object, Object> record;

  private final byte[] buffer = new byte[BUFFER_LENGTH];
  private int position;
  private int limit;

  private byte[] rowBytes = new byte[FIRST_ROW_LENGTH];
  private int nextLength = UNKNOWN;

  /**
   * @param in not closed here
   * @param numFields of each row
   */
  UnsafeRowIterator(InputStream in, int numFields) {
    this.in = in;
    row = new UnsafeRow(numFields);
    record = new Tuple2<>(0, row);
  }

  @Override
  public boolean hasNext() {
    if (nextLength == UNKNOWN) {
      try {
        nextLength = readLength();
      } catch (IOException e) {
        throw rethrown(e);
      }
    }
    return nextLength != END;
  }

  @Override
  public Tuple2<Object, Object> next() {
    if (!hasNext()) {
      throw new NoSuchElementException("no more rows");
    }
    int length = nextLength;
    nextLength = UNKNOWN;
    if (length > rowBytes.length) {
      rowBytes = new byte[length];
    }
    try {
      readRow(length);
    } catch (IOException e) {
      throw rethrown(e);
    }
    row.pointTo(rowBytes, length);
    return record;
  }

  private int readLength() throws IOException {
    int length = 0;
    for (int i = 0; i < Integer.BYTES; i++) {
      if (position == limit && !fill()) {
        if (i == 0) {
          return END;
        }
        throw new EOFException("the stream ends within the length of a row");
      }
      length = (length << Byte.SIZE) | (buffer[position++] & 0xff);
    }
    if (length < 0) {
      throw new IOException("a row of " + length + " bytes; is the shuffle's serializer another?");
    }
    return length;
  }

  private void readRow(int length) throws IOException {
    int buffered = Math.min(length, limit - position);
    System.arraycopy(buffer, position, rowBytes, 0, buffered);
    position += buffered;
    int missing = length - buffered;
    missing -= in.readNBytes(rowBytes, buffered, missing);
    if (missing > 0) {
      throw new EOFException("the stream ends " + missing + " bytes before the end of a row");
    }
  }

  private boolean fill() throws IOException {
    int count = in.read(buffer, 0, buffer.length);
    position = 0;
    limit = Math.max(0, count);
    return count > 0;
  }

  /** Spark's iterators throw what streams throw; so must one that stands in for them. */
  private static RuntimeException rethrown(IOException e) {
    Platform.throwException(e);
    return new IllegalStateException(e);
  }
}
