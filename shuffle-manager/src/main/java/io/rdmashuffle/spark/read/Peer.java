package io.rdmashuffle.spark.read;

import io.rdmashuffle.spark.directory.ExecutorRecord;
import java.util.concurrent.atomic.AtomicLong;

/** One executor that this one reads from: its connection and what is in flight to it. */
final class Peer {
  private final PeerConnector connector;
  private final FlightControl flight;

  Peer(ReadServices services, ExecutorRecord record, AtomicLong bytesInFlightToAll) {
    connector = new PeerConnector(services, record);
    flight = new FlightControl(services, bytesInFlightToAll);
  }

  PeerConnector connector() {
    return connector;
  }

  FlightControl flight() {
    return flight;
  }

  void close() {
    connector.close();
    flight.pump();
  }
}
