package io.rdmashuffle.transport;

import java.util.concurrent.atomic.LongAdder;

/**
 * What a transport did and holds. The totals only grow; the gauges return to zero when everything
 * is closed. Written by the transport, read by anyone.
 */
public final class TransportCounters {
  /** Registrations of memory since the start. Does not move while blocks are read. */
  public final LongAdder registrations = new LongAdder();

  /** Slabs registered and not closed. */
  public final LongAdder registeredSlabs = new LongAdder();

  /** Connections made by this process and not closed. */
  public final LongAdder openConnections = new LongAdder();

  /** Mappings of peers' memory (shared memory) or queue pairs (verbs) in existence. */
  public final LongAdder peerResources = new LongAdder();

  /** Reads completed without error. */
  public final LongAdder readsCompleted = new LongAdder();

  /** Bytes of those reads. */
  public final LongAdder bytesRead = new LongAdder();

  /** Batches that ended with a failure, flushes included. */
  public final LongAdder batchesFailed = new LongAdder();

  /** Offers answered with back-pressure. */
  public final LongAdder offersRefused = new LongAdder();
}
