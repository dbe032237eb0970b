package io.rdmashuffle.transport;

/** What a {@link FaultyTransport} does to a read, a connect or a registration. */
public enum Fault {
  /** Lets it through. */
  NONE,
  /**
   * A read completes with an error, and all that follows on its connection is flushed; a connect is
   * rejected; a registration fails.
   */
  ERROR,
  /** Ends as it would, but later. A batch that is then too late ends with READ_TIMEOUT. */
  LATE,
  /**
   * Never ends of itself: the batch fails with READ_TIMEOUT at its deadline and breaks the
   * connection; the connect fails with CONNECT_TIMEOUT at its deadline. A registration fails.
   */
  MISSING,
  /** One bit of what was read is wrong. Lets connects and registrations through. */
  CORRUPT
}
