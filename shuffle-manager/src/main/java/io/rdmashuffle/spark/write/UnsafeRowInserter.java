package io.rdmashuffle.spark.write;

import io.rdmashuffle.spark.UnsafeRows;
import java.io.IOException;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;

/** Copies the rows of Spark SQL into the pages, as its serializer would write them. */
final class UnsafeRowInserter implements RecordInserter {
  private final RecordPages pages;
  private final UnsafeRows format;
  private long records;
  private long bytes;

  UnsafeRowInserter(RecordPages pages, UnsafeRows format) {
    this.pages = pages;
    this.format = format;
  }

  @Override
  public void insert(int partition, Object key, Object value) throws IOException {
    UnsafeRow row = (UnsafeRow) value;
    int length = row.getSizeInBytes();
    pages.begin();
    pages.appendInt(length);
    pages.append(row.getBaseObject(), row.getBaseOffset(), length);
    pages.end(partition);
    records++;
    bytes += length;
  }

  @Override
  public void finish() {
    // Spark tells a metric that nothing was added to from one that is 0.
    if (records > 0) {
      format.addDataSize(bytes);
    }
  }

  @Override
  public void close() {}
}
