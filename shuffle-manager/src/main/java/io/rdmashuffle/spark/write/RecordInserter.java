package io.rdmashuffle.spark.write;

import java.io.IOException;

/** Serializes the records of a map task into its pages. Used by the task's thread. */
interface RecordInserter extends AutoCloseable {
  /** Adds a record. */
  void insert(int partition, Object key, Object value) throws IOException;

  /** After the last record: what is still on its way goes to the pages. */
  void finish() throws IOException;

  /** Lets the serializer go; also after a failure, and before the pages are freed. */
  @Override
  void close() throws IOException;
}
