package io.rdmashuffle.transport;

/**
 * A way to one peer's registered memory. All methods may be called from any thread.
 *
 * <p>Batches complete in the order in which they were accepted, and within a batch the reads take
 * effect in the order in which they were added: a later read sees memory no older than an earlier
 * one did. The check of a generation behind the data it protects rests on this.
 *
 * <p>The first failure breaks the connection: it is reported with its cause to the batch it hit,
 * and every batch accepted after that one fails with {@link FailureKind#CLOSED}. A broken
 * connection never recovers; close it and connect anew.
 */
public interface Connection extends AutoCloseable {
  /** Who is at the other end. */
  PeerIdentity peer();

  /** False once the connection broke or was closed. */
  boolean isOpen();

  /**
   * Whether {@link #offer} always completes a batch before it returns, on the calling thread: there
   * is nothing to overlap then, and callers need not bound what is in flight.
   */
  default boolean completesInline() {
    return false;
  }

  /**
   * Takes over a batch of reads.
   *
   * <p>When it answers true, the batch and the local memory it names belong to the connection until
   * the listener is called; that happens exactly once, perhaps before this method returns, and no
   * later than shortly after {@link ReadBatch#deadlineNs()}. Once the listener is called nothing of
   * the batch will be written to any more, even after a failure: the local memory may be reused.
   *
   * <p>When it answers false, there is no room for more reads now (back-pressure): nothing
   * happened, and the caller offers again after one of its earlier batches on this connection
   * completed. A connection with no batch outstanding never answers false to a batch within {@link
   * Transport#maxBatchSize()}. On a broken or closed connection it answers true and fails the batch
   * with {@link FailureKind#CLOSED}. A batch whose deadline is over when it is offered is not read:
   * it fails with {@link FailureKind#READ_TIMEOUT}, and breaks the connection as any failure does.
   *
   * @throws IllegalArgumentException when the batch is empty, too large, or reads outside the local
   *     slab
   */
  boolean offer(ReadBatch batch, ReadListener listener);

  /**
   * Closes the connection; batches outstanding fail with {@link FailureKind#CLOSED}. Idempotent;
   * never waits for the peer.
   */
  @Override
  void close();
}
