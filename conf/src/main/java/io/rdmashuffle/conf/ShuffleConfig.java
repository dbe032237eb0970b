package io.rdmashuffle.conf;

/** Settings of the {@code shuffle-manager} module. Immutable. */
public final class ShuffleConfig {
  private final boolean allowCleartext;
  private final boolean verifyChecksums;
  private final long indexCacheSizeBytes;
  private final long maxBytesInFlightPerPeer;
  private final long maxBytesInFlight;
  private final int maxReadsInFlightPerPeer;
  private final long readChunkSizeBytes;
  private final long peerBackoffNs;
  private final long peerMaxBackoffNs;
  private final long readTimeoutNs;
  private final long locateTimeoutNs;
  private final long publishTimeoutNs;
  private final long stopTimeoutNs;

  ShuffleConfig(ConfigReader reader) {
    allowCleartext = reader.get(ConfigKeys.ALLOW_CLEARTEXT);
    verifyChecksums = reader.get(ConfigKeys.VERIFY_CHECKSUMS);
    indexCacheSizeBytes = reader.get(ConfigKeys.INDEX_CACHE_SIZE).bytes();
    maxBytesInFlightPerPeer = reader.get(ConfigKeys.MAX_BYTES_IN_FLIGHT_PER_PEER).bytes();
    maxBytesInFlight = reader.get(ConfigKeys.MAX_BYTES_IN_FLIGHT).bytes();
    maxReadsInFlightPerPeer = reader.get(ConfigKeys.MAX_READS_IN_FLIGHT_PER_PEER);
    readChunkSizeBytes = reader.get(ConfigKeys.READ_CHUNK_SIZE).bytes();
    peerBackoffNs = reader.get(ConfigKeys.PEER_BACKOFF).toNanos();
    peerMaxBackoffNs = reader.get(ConfigKeys.PEER_MAX_BACKOFF).toNanos();
    readTimeoutNs = reader.get(ConfigKeys.READ_TIMEOUT).toNanos();
    locateTimeoutNs = reader.get(ConfigKeys.LOCATE_TIMEOUT).toNanos();
    publishTimeoutNs = reader.get(ConfigKeys.PUBLISH_TIMEOUT).toNanos();
    stopTimeoutNs = reader.get(ConfigKeys.STOP_TIMEOUT).toNanos();
  }

  /** Returns whether plain bytes may travel although Spark encrypts its network traffic. */
  public boolean allowCleartext() {
    return allowCleartext;
  }

  /** Returns whether partitions read one-sided are compared with Spark's checksums. */
  public boolean verifyChecksums() {
    return verifyChecksums;
  }

  /** Returns the heap for cached index blocks per executor, 0 (no cache) to 64 GiB. */
  public long indexCacheSizeBytes() {
    return indexCacheSizeBytes;
  }

  /** Returns the bytes outstanding at one peer, per executor, 4 KiB to 1 TiB. */
  public long maxBytesInFlightPerPeer() {
    return maxBytesInFlightPerPeer;
  }

  /**
   * Returns the bytes outstanding in all, per executor; {@link #maxBytesInFlightPerPeer()} to 1
   * TiB.
   */
  public long maxBytesInFlight() {
    return maxBytesInFlight;
  }

  /** Returns the reads outstanding at one peer, per executor, 1 to 65535. */
  public int maxReadsInFlightPerPeer() {
    return maxReadsInFlightPerPeer;
  }

  /** Returns the largest single read, 4 KiB to 1 GiB; fits a slab and the bytes for one peer. */
  public long readChunkSizeBytes() {
    return readChunkSizeBytes;
  }

  /** Returns how long a peer is left to TCP after its first failure, 10 ms to 1 h. */
  public long peerBackoffNs() {
    return peerBackoffNs;
  }

  /** Returns the longest time a peer is left to TCP, {@link #peerBackoffNs()} to 1 h. */
  public long peerMaxBackoffNs() {
    return peerMaxBackoffNs;
  }

  /** Returns the deadline for a batch of reads, 10 ms to 10 min. */
  public long readTimeoutNs() {
    return readTimeoutNs;
  }

  /** Returns the deadline for the driver to say where map outputs lie, 10 ms to 10 min. */
  public long locateTimeoutNs() {
    return locateTimeoutNs;
  }

  /** Returns the deadline for the driver to acknowledge a map output, 10 ms to 10 min. */
  public long publishTimeoutNs() {
    return publishTimeoutNs;
  }

  /** Returns the deadline for giving everything back at the end, 10 ms to 10 min. */
  public long stopTimeoutNs() {
    return stopTimeoutNs;
  }
}
