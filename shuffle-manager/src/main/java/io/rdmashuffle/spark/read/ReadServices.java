package io.rdmashuffle.spark.read;

import io.rdmashuffle.conf.ShuffleConfig;
import io.rdmashuffle.conf.TransportConfig;
import io.rdmashuffle.spark.FallbackReason;
import io.rdmashuffle.spark.ReadAccounting;
import io.rdmashuffle.spark.directory.DirectoryClient;
import io.rdmashuffle.store.IndexBlockCache;
import io.rdmashuffle.store.ReceivePool;
import io.rdmashuffle.transport.Transport;
import java.time.Duration;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.concurrent.Executor;

/**
 * What reading needs, gathered once per executor. Immutable; everything in it is safe for use by
 * several threads and is closed by whoever made it.
 */
public final class ReadServices {
  private final String applicationId;
  private final List<Transport> transports;
  private final PeerConnector.NoLinkException whyNoTransport;
  private final DirectoryClient directory;
  private final ReceivePool receivePool;
  private final IndexBlockCache indexCache;
  private final ReadAccounting accounting;
  private final Executor continuations;
  private final FileReads fileReads;
  private final ShuffleConfig shuffleConfig;
  private final TransportConfig transportConfig;
  private final IdentityHashMap<Transport, BatchPool> batchPools = new IdentityHashMap<>();

  /**
   * @param transports available ones, most wanted first
   * @param whyNone reason to give when none of them reaches a peer
   * @param continuations runs short work for threads that must not do it themselves
   */
  public ReadServices(
      String applicationId,
      List<Transport> transports,
      FallbackReason whyNone,
      String whyNoneDetail,
      DirectoryClient directory,
      ReceivePool receivePool,
      IndexBlockCache indexCache,
      ReadAccounting accounting,
      Executor continuations,
      FileReads fileReads,
      ShuffleConfig shuffleConfig,
      TransportConfig transportConfig) {
    this.applicationId = applicationId;
    this.transports = List.copyOf(transports);
    this.whyNoTransport = new PeerConnector.NoLinkException(whyNone, whyNoneDetail);
    this.directory = directory;
    this.receivePool = receivePool;
    this.indexCache = indexCache;
    this.accounting = accounting;
    this.continuations = continuations;
    this.fileReads = fileReads;
    this.shuffleConfig = shuffleConfig;
    this.transportConfig = transportConfig;
    for (Transport transport : transports) {
      batchPools.put(transport, new BatchPool(transport));
    }
  }

  String applicationId() {
    return applicationId;
  }

  List<Transport> transports() {
    return transports;
  }

  PeerConnector.NoLinkException whyNoTransport() {
    return whyNoTransport;
  }

  DirectoryClient directory() {
    return directory;
  }

  ReceivePool receivePool() {
    return receivePool;
  }

  IndexBlockCache indexCache() {
    return indexCache;
  }

  ReadAccounting accounting() {
    return accounting;
  }

  Executor continuations() {
    return continuations;
  }

  FileReads fileReads() {
    return fileReads;
  }

  BatchPool batches(Transport transport) {
    return batchPools.get(transport);
  }

  int maxReadBytes(Transport transport) {
    return (int) Math.min(transport.maxReadLength(), shuffleConfig.readChunkSizeBytes());
  }

  Duration connectTimeout() {
    return Duration.ofNanos(transportConfig.connectTimeoutNs());
  }

  /** Most peers to stay connected to. */
  int maxConnections() {
    return transportConfig.maxConnections();
  }

  /** No request is under way longer than this: locating, connecting, memory, index and data. */
  Duration longestRequest() {
    return locateTimeout().plus(connectTimeout()).plus(readTimeout().multipliedBy(4));
  }

  Duration readTimeout() {
    return Duration.ofNanos(shuffleConfig.readTimeoutNs());
  }

  Duration locateTimeout() {
    return Duration.ofNanos(shuffleConfig.locateTimeoutNs());
  }

  Duration firstBackoff() {
    return Duration.ofNanos(shuffleConfig.peerBackoffNs());
  }

  Duration maxBackoff() {
    return Duration.ofNanos(shuffleConfig.peerMaxBackoffNs());
  }

  long maxBytesInFlightPerPeer() {
    return shuffleConfig.maxBytesInFlightPerPeer();
  }

  long maxBytesInFlight() {
    return shuffleConfig.maxBytesInFlight();
  }

  int maxReadsInFlightPerPeer() {
    return shuffleConfig.maxReadsInFlightPerPeer();
  }

  boolean verifiesChecksums() {
    return shuffleConfig.verifyChecksums();
  }
}
