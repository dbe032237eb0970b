package io.rdmashuffle.spark.directory;

/**
 * How peers name and unlock a slab over one transport. A key is a capability, so it is never
 * printed.
 *
 * @param remoteAddress what a peer adds to an offset within the slab
 * @param remoteKey what a peer presents to read
 */
public record SlabKey(long remoteAddress, int remoteKey) {
  @Override
  public String toString() {
    return "SlabKey[hidden]";
  }
}
