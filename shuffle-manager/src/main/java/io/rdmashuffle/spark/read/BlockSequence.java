package io.rdmashuffle.spark.read;

import java.io.IOException;
import java.io.InputStream;
import org.apache.spark.storage.BlockId;
import scala.Tuple2;
import scala.collection.Iterator;

/**
 * Blocks one behind the other as one stream. The next block is asked for when the one before has
 * been read to its end and closed. Used by one thread.
 */
final class BlockSequence extends InputStream {
  private static final int END = -1;

  private final Iterator<Tuple2<BlockId, InputStream>> blocks;
  private InputStream current;
  private boolean isClosed;

  BlockSequence(Iterator<Tuple2<BlockId, InputStream>> blocks) {
    this.blocks = blocks;
  }

  @Override
  public int read() throws IOException {
    while (advance()) {
      int value = current.read();
      if (value != END) {
        return value;
      }
      closeCurrent();
    }
    return END;
  }

  @Override
  public int read(byte[] target, int offset, int length) throws IOException {
    if (length == 0) {
      return 0;
    }
    while (advance()) {
      int count = current.read(target, offset, length);
      if (count != END) {
        return count;
      }
      closeCurrent();
    }
    return END;
  }

  /** Only of the block being read: nobody is to wait for the next one unless it is needed. */
  @Override
  public int available() throws IOException {
    return current == null ? 0 : current.available();
  }

  /** Closes the block being read; those behind it remain the iterator's. */
  @Override
  public void close() throws IOException {
    isClosed = true;
    closeCurrent();
  }

  private boolean advance() {
    if (current == null && !isClosed && blocks.hasNext()) {
      current = blocks.next()._2();
    }
    return current != null;
  }

  private void closeCurrent() throws IOException {
    InputStream ended = current;
    current = null;
    if (ended != null) {
      ended.close();
    }
  }
}
