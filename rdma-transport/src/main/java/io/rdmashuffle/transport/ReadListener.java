package io.rdmashuffle.transport;

/**
 * Told how a batch ended: one call of one method per accepted batch, on a thread of the transport
 * or on the thread that offered it. Implementations return quickly, never block, never throw; they
 * may offer further batches.
 */
public interface ReadListener {
  /** Every read of the batch is complete in local memory. */
  void onComplete(ReadBatch batch);

  /** The batch failed; what it may have written to local memory must not be used. */
  void onFailure(ReadBatch batch, TransportException failure);
}
