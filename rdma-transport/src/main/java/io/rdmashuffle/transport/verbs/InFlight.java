package io.rdmashuffle.transport.verbs;

import io.rdmashuffle.transport.ReadBatch;
import io.rdmashuffle.transport.ReadListener;

/** A slot for one accepted batch. Filled by the offering thread, then the poller's. */
final class InFlight {
  ReadBatch batch;
  ReadListener listener;

  /** Reads posted so far: a batch goes out in pieces when the queue is shorter than it. */
  int posted;

  /** Reads known to be complete. */
  int completed;

  void fill(ReadBatch newBatch, ReadListener newListener) {
    batch = newBatch;
    listener = newListener;
    posted = 0;
    completed = 0;
  }

  void clear() {
    batch = null;
    listener = null;
  }
}
