package io.rdmashuffle.spark.directory;

import io.rdmashuffle.transport.Deadline;
import java.util.concurrent.CompletableFuture;

/**
 * How a client reaches the driver's directory.
 *
 * <p>Asking is asynchronous so that a request shared by several tasks belongs to none of them: a
 * task that is killed while it waits leaves the request alive for the others.
 */
interface DirectoryChannel extends AutoCloseable {
  /**
   * Sends a request. Does not block.
   *
   * @return completes with the answer, or with a {@link DirectoryException} no later than shortly
   *     after the deadline, possibly on a thread of the RPC, where nothing may block
   */
  CompletableFuture<byte[]> ask(byte[] request, Deadline deadline);

  /** Sends a message that has no answer and may get lost. Does not block. */
  void send(byte[] message);

  /** Idempotent; later calls of {@link #ask} fail. */
  @Override
  void close();
}
