package io.rdmashuffle.spark.read;

import io.rdmashuffle.spark.directory.PeerRecord;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;

/** The peers this executor has read from. Safe for use by several threads. */
final class PeerTable {
  private final ReadServices services;
  private final AtomicLong bytesInFlight = new AtomicLong();
  private final ConcurrentMap<String, Peer> peers = new ConcurrentHashMap<>();

  PeerTable(ReadServices services) {
    this.services = services;
  }

  /** The peer that the driver described; made on first need. */
  Peer peer(PeerRecord record) {
    return peers.computeIfAbsent(
        record.executorId(), id -> new Peer(services, record.executor(), bytesInFlight));
  }

  /** Closes the connection to an executor that is gone. */
  void remove(String executorId) {
    Peer peer = peers.remove(executorId);
    if (peer != null) {
      peer.close();
    }
  }

  /** Closes all connections; reads in flight fail. */
  void close() {
    for (String executorId : peers.keySet()) {
      remove(executorId);
    }
  }
}
