package io.rdmashuffle.spark.read;

import io.rdmashuffle.spark.directory.ExecutorRecord;
import io.rdmashuffle.spark.directory.PeerRecord;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * The peers this executor reads from. One that is not read from for some minutes is dropped, so
 * that executors which come and go leave neither entries nor mappings of their memory behind; and
 * when there are more than the settings allow, the one that has been idle longest makes room.
 *
 * <p>Safe for use by several threads.
 */
final class PeerTable {
  /** After that, connecting again costs little by comparison. */
  private static final long MAX_IDLE_NS = TimeUnit.MINUTES.toNanos(5);

  private final ReadServices services;
  private final LongSupplier nanoClock;
  private final AtomicLong bytesInFlight = new AtomicLong();

  /** Entries are replaced under the lock of this. */
  private final ConcurrentMap<String, Peer> peers = new ConcurrentHashMap<>();

  private boolean isClosed; // guarded by this

  PeerTable(ReadServices services, LongSupplier nanoClock) {
    this.services = services;
    this.nanoClock = nanoClock;
  }

  /** The peer that the driver described; made on first need, and again for another process. */
  Peer peer(PeerRecord record) {
    Peer peer = peers.get(record.executorId());
    if (peer == null || !peer.isSameProcess(record.executor())) {
      return replace(record.executor());
    }
    peer.touch();
    return peer;
  }

  private Peer replace(ExecutorRecord executor) {
    Peer made = new Peer(services, executor, bytesInFlight, nanoClock);
    Peer former = null;
    boolean isTooLate;
    synchronized (this) {
      Peer current = peers.get(executor.executorId());
      if (current != null && current.isSameProcess(executor)) {
        return current;
      }
      isTooLate = isClosed;
      if (!isTooLate) {
        former = peers.put(executor.executorId(), made);
      }
    }
    if (former != null) {
      former.close();
    }
    if (isTooLate) {
      made.close();
    } else if (peers.size() > services.maxConnections()) {
      dropIdlest();
    }
    return made;
  }

  /** Makes room for a new peer; when all are in use there is one more than wanted for a while. */
  private void dropIdlest() {
    Map.Entry<String, Peer> idlest = null;
    for (Map.Entry<String, Peer> entry : peers.entrySet()) {
      if (idlest == null || entry.getValue().idleNs() > idlest.getValue().idleNs()) {
        idlest = entry;
      }
    }
    if (idlest != null && idlest.getValue().idleNs() > services.longestRequest().toNanos()) {
      drop(idlest);
    }
  }

  private void drop(Map.Entry<String, Peer> entry) {
    if (peers.remove(entry.getKey(), entry.getValue())) {
      entry.getValue().close();
    }
  }

  /** Drops peers that have been idle for too long. To be called from time to time. */
  void dropIdle() {
    // No read may be under way, whatever the deadlines are.
    long maxIdleNs = Math.max(MAX_IDLE_NS, services.longestRequest().toNanos());
    for (Map.Entry<String, Peer> entry : peers.entrySet()) {
      if (entry.getValue().idleNs() > maxIdleNs) {
        drop(entry);
      }
    }
  }

  /** Closes the connection to an executor that is gone. */
  void remove(String executorId) {
    Peer peer = peers.remove(executorId);
    if (peer != null) {
      peer.close();
    }
  }

  int size() {
    return peers.size();
  }

  /** Closes all connections and makes no more; reads in flight fail. */
  void close() {
    synchronized (this) {
      isClosed = true;
    }
    for (String executorId : peers.keySet()) {
      remove(executorId);
    }
  }
}
