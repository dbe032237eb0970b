package io.rdmashuffle.spark.write;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;

/** Reads a spill file from its beginning to its end, partition by partition, on one thread. */
final class SpillReader implements AutoCloseable {
  private static final int BUFFER_LENGTH = 64 << 10;

  private final SpillFile spill;
  private final InputStream in;
  private int next;
  private PartitionStream current;

  SpillReader(SpillFile spill) throws IOException {
    this.spill = spill;
    in = new BufferedInputStream(new FileInputStream(spill.file()), BUFFER_LENGTH);
  }

  /** The next partition there is, {@link SortedRecords#NONE} behind the last. */
  int partition() {
    return next < spill.count() ? spill.partition(next) : SortedRecords.NONE;
  }

  /**
   * The bytes of the next partition, and moves to the one after it. Ends the stream before, whether
   * or not it was read to its end.
   */
  InputStream open() throws IOException {
    if (current != null) {
      current.close();
    }
    current = new PartitionStream(spill.length(next));
    next++;
    return current;
  }

  @Override
  public void close() throws IOException {
    in.close();
  }

  private final class PartitionStream extends InputStream {
    private long left;

    PartitionStream(long length) {
      left = length;
    }

    @Override
    public int read() throws IOException {
      if (left == 0) {
        return -1;
      }
      int value = in.read();
      if (value < 0) {
        throw truncated();
      }
      left--;
      return value;
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
      if (left == 0) {
        return length == 0 ? 0 : -1;
      }
      int count = in.read(bytes, offset, (int) Math.min(left, length));
      if (count < 0) {
        throw truncated();
      }
      left -= count;
      return count;
    }

    @Override
    public int available() throws IOException {
      return (int) Math.min(left, in.available());
    }

    @Override
    public void close() throws IOException {
      in.skipNBytes(left);
      left = 0;
    }

    private EOFException truncated() {
      return new EOFException(spill.file() + " ends " + left + " bytes before a partition does");
    }
  }
}
