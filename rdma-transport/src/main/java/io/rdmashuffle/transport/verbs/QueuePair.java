package io.rdmashuffle.transport.verbs;

/** The queue pair of an established connection, as its poller sees it. */
interface QueuePair {
  /** Handle for posting. */
  long handle();

  /**
   * Tells the peer, destroys the queue pair and has the connection manager forget the id. Called
   * once, on the poller.
   */
  void destroy();
}
