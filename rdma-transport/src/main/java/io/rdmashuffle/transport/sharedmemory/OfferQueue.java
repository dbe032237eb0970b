package io.rdmashuffle.transport.sharedmemory;

import io.rdmashuffle.transport.ReadBatch;
import io.rdmashuffle.transport.ReadListener;
import java.util.ArrayDeque;

/**
 * The batches one thread offered from inside listeners, and that wait until the listener returned.
 * Without it a reader that offers its next batch whenever one completes would nest as deep as it
 * has batches. Confined to its thread; grows to the most batches ever offered from one listener.
 */
final class OfferQueue {
  private static final ThreadLocal<OfferQueue> QUEUES = ThreadLocal.withInitial(OfferQueue::new);

  private final ArrayDeque<Object> waiting = new ArrayDeque<>();
  private boolean isBusy;

  private OfferQueue() {}

  static OfferQueue ofCurrentThread() {
    return QUEUES.get();
  }

  /**
   * Reads the batch, and then whatever listeners offered meanwhile; from within a listener, only
   * takes note of it.
   */
  void offer(SharedMemoryConnection connection, ReadBatch batch, ReadListener listener) {
    if (isBusy) {
      waiting.add(connection);
      waiting.add(batch);
      waiting.add(listener);
      return;
    }
    isBusy = true;
    try {
      connection.execute(batch, listener);
      while (!waiting.isEmpty()) {
        SharedMemoryConnection next = (SharedMemoryConnection) waiting.remove();
        next.execute((ReadBatch) waiting.remove(), (ReadListener) waiting.remove());
      }
    } finally {
      isBusy = false;
    }
  }
}
