package io.rdmashuffle.spark.read;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.spark.SqlRows;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Random;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.junit.jupiter.api.Test;

class UnsafeRowIteratorTest {
  private final Random random = new Random(7);

  @Test
  void rowsThatSparkWroteAreReadInOrder() {
    List<UnsafeRow> rows = SqlRows.random(random, 3_000, 200_000);
    UnsafeRowIterator iterator = iterator(new ByteArrayInputStream(written(rows)));
    assertEquals(rows, SqlRows.copies(iterator));
    assertFalse(iterator.hasNext());
    assertThrows(NoSuchElementException.class, iterator::next);
  }

  @Test
  void aStreamMayGiveAsLittleAsItLikes() {
    List<UnsafeRow> rows = SqlRows.random(random, 300, 70_000);
    InputStream trickle =
        new FilterInputStream(new ByteArrayInputStream(written(rows))) {
          @Override
          public int read(byte[] target, int offset, int length) throws IOException {
            return super.read(target, offset, Math.min(length, 1 + random.nextInt(1000)));
          }
        };
    assertEquals(rows, SqlRows.copies(iterator(trickle)));
  }

  @Test
  void aRowStaysAsItIsUntilTheNextOneIsTaken() {
    List<UnsafeRow> rows = SqlRows.random(random, 1_000, 1_000);
    UnsafeRowIterator iterator = iterator(new ByteArrayInputStream(written(rows)));
    for (UnsafeRow row : rows) {
      Object read = iterator.next()._2();
      iterator.hasNext();
      iterator.hasNext();
      assertEquals(row, read);
    }
  }

  @Test
  void ofNoBytesThereAreNoRows() {
    assertFalse(iterator(InputStream.nullInputStream()).hasNext());
  }

  @Test
  void aStreamThatEndsWithinARowIsAnError() {
    byte[] bytes = written(SqlRows.random(random, 1, 50));
    for (int length = 1; length < bytes.length; length++) {
      byte[] part = Arrays.copyOf(bytes, length);
      UnsafeRowIterator iterator = iterator(new ByteArrayInputStream(part));
      assertThrows(EOFException.class, iterator::next, () -> "of " + part.length + " bytes");
    }
  }

  @Test
  void aLongRowThatEndsEarlyIsAnError() {
    byte[] bytes = written(List.of(SqlRows.row(1, new byte[100_000])));
    byte[] part = Arrays.copyOf(bytes, bytes.length - 1);
    assertThrows(EOFException.class, iterator(new ByteArrayInputStream(part))::next);
  }

  @Test
  void aLengthThatCannotBeIsAnError() {
    UnsafeRowIterator iterator = iterator(new ByteArrayInputStream(new byte[] {-1, -1, -1, -8}));
    IOException error = assertThrows(IOException.class, iterator::hasNext);
    assertTrue(error.getMessage().contains("a row of -8 bytes"), error::getMessage);
  }

  private static UnsafeRowIterator iterator(InputStream in) {
    return new UnsafeRowIterator(in, SqlRows.FIELDS);
  }

  private static byte[] written(List<UnsafeRow> rows) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    SqlRows.write(rows, bytes);
    return bytes.toByteArray();
  }
}
