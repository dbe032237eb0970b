package io.rdmashuffle.spark.read;

import io.rdmashuffle.transport.ReadBatch;
import io.rdmashuffle.transport.Transport;
import java.util.concurrent.ArrayBlockingQueue;

/**
 * Read batches for reuse, so that steady reading allocates none. Safe for use by several threads.
 */
final class BatchPool {
  /** Beyond this a doorbell's cost is spread thinly enough. */
  private static final int MAX_READS_PER_BATCH = 128;

  private static final int MAX_POOLED = 256;

  private final int capacity;
  private final ArrayBlockingQueue<ReadBatch> free = new ArrayBlockingQueue<>(MAX_POOLED);

  BatchPool(Transport transport) {
    capacity = Math.min(transport.maxBatchSize(), MAX_READS_PER_BATCH);
  }

  ReadBatch take() {
    ReadBatch batch = free.poll();
    return batch == null ? new ReadBatch(capacity) : batch;
  }

  /** Takes a batch back; drops it when there are enough. */
  void give(ReadBatch batch) {
    boolean isKept = free.offer(batch);
    assert isKept || free.size() > 0;
  }
}
