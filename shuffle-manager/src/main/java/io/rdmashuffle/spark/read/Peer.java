package io.rdmashuffle.spark.read;

import io.rdmashuffle.spark.directory.ExecutorRecord;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/** One executor that this one reads from: its connection and what is in flight to it. */
final class Peer {
  private final LongSupplier nanoClock;
  private final PeerConnector connector;
  private final FlightControl flight;
  private final byte[] token;
  private volatile long lastUsedNs;

  Peer(
      ReadServices services,
      ExecutorRecord record,
      AtomicLong bytesInFlightToAll,
      LongSupplier nanoClock) {
    token = record.token();
    this.nanoClock = nanoClock;
    connector = new PeerConnector(services, record, nanoClock);
    flight = new FlightControl(services, bytesInFlightToAll);
    touch();
  }

  PeerConnector connector() {
    return connector;
  }

  FlightControl flight() {
    return flight;
  }

  /**
   * Whether the record is of the process that this peer is connected to, whatever slabs it has by
   * now: an executor id may be given to another process, which has another token.
   */
  boolean isSameProcess(ExecutorRecord other) {
    return Arrays.equals(token, other.token());
  }

  /** A request begins, or goes on with further reads: one into a file may take very long. */
  void touch() {
    lastUsedNs = nanoClock.getAsLong();
  }

  long idleNs() {
    return nanoClock.getAsLong() - lastUsedNs;
  }

  /** Closes the connection; groups in flight and waiting fail. */
  void close() {
    connector.close();
    flight.pump();
  }
}
