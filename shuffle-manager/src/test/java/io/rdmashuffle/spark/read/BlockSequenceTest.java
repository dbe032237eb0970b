package io.rdmashuffle.spark.read;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.ShuffleBlockId;
import org.junit.jupiter.api.Test;
import scala.Tuple2;
import scala.collection.AbstractIterator;

class BlockSequenceTest {
  private final Blocks blocks = new Blocks();
  private final BlockSequence sequence = new BlockSequence(blocks);

  @Test
  void blocksFollowEachOtherAndEmptyOnesLeaveNoTrace() throws IOException {
    blocks.add(1, 2);
    blocks.add();
    blocks.add(3);
    assertArrayEquals(new byte[] {1, 2, 3}, sequence.readAllBytes());
    assertEquals(-1, sequence.read());
    assertEquals(List.of(0, 1, 2), blocks.closed);
  }

  @Test
  void readingByteByByteIsTheSame() throws IOException {
    blocks.add(1);
    blocks.add();
    blocks.add(0xff);
    assertEquals(1, sequence.read());
    assertEquals(0xff, sequence.read());
    assertEquals(-1, sequence.read());
    assertEquals(List.of(0, 1, 2), blocks.closed);
  }

  @Test
  void theNextBlockIsNotAskedForBeforeItIsNeeded() throws IOException {
    blocks.add(1, 2);
    blocks.add(3);
    assertEquals(0, sequence.available());
    assertEquals(0, blocks.asked);
    assertEquals(2, sequence.read(new byte[10], 0, 10));
    assertEquals(0, sequence.available());
    assertEquals(0, sequence.read(new byte[10], 0, 0));
    assertEquals(1, blocks.asked);
    assertEquals(List.of(), blocks.closed);
    assertEquals(3, sequence.read());
    assertEquals(List.of(0), blocks.closed);
  }

  @Test
  void aClosedSequenceClosesItsBlockAndLeavesTheOthersAlone() throws IOException {
    blocks.add(1, 2);
    blocks.add(3);
    assertEquals(1, sequence.read());
    assertEquals(1, sequence.available());
    sequence.close();
    sequence.close();
    assertEquals(-1, sequence.read());
    assertEquals(1, blocks.asked);
    assertEquals(List.of(0), blocks.closed);
  }

  @Test
  void aBlockThatCannotBeFetchedFailsTheRead() throws IOException {
    blocks.add(1);
    blocks.failure = new IllegalStateException("lost");
    assertEquals(1, sequence.read());
    assertEquals(
        "lost", assertThrows(IllegalStateException.class, () -> sequence.read()).getMessage());
  }

  /** Blocks that remember who was asked for and who was closed. */
  private static final class Blocks extends AbstractIterator<Tuple2<BlockId, InputStream>> {
    private final List<InputStream> streams = new ArrayList<>();
    private final List<Integer> closed = new ArrayList<>();
    private int asked;
    private RuntimeException failure;

    void add(int... values) {
      byte[] bytes = new byte[values.length];
      for (int i = 0; i < values.length; i++) {
        bytes[i] = (byte) values[i];
      }
      int number = streams.size();
      streams.add(
          new ByteArrayInputStream(bytes) {
            @Override
            public void close() {
              closed.add(number);
            }
          });
    }

    @Override
    public boolean hasNext() {
      return asked < streams.size() || failure != null;
    }

    @Override
    public Tuple2<BlockId, InputStream> next() {
      if (asked == streams.size()) {
        throw failure;
      }
      return new Tuple2<>(new ShuffleBlockId(0, asked, 0), streams.get(asked++));
    }
  }
}
