package io.rdmashuffle.spark.directory;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Encoded pages of shuffles, because at the start of a stage every executor asks for the same ones.
 * A page is good while nothing changed that could change it, see {@link Directory#stamp}.
 *
 * <p>Thread-safe, bounded in bytes; the page used longest ago goes first.
 */
final class PageCache {
  private final long maxBytes;
  private final Map<Key, Page> pages = new LinkedHashMap<>(16, 0.75f, true); // guarded by this
  private long bytes; // guarded by this

  private record Key(int shuffleId, int fromPosition) {}

  private static final class Page {
    final Directory.Stamp stamp;
    final byte[] encoded;

    Page(Directory.Stamp stamp, byte[] encoded) {
      this.stamp = stamp;
      this.encoded = encoded;
    }
  }

  PageCache(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  /** The encoded page, which the caller must not change, or null. */
  synchronized byte[] get(int shuffleId, int fromPosition, Directory.Stamp stamp) {
    Page page = pages.get(new Key(shuffleId, fromPosition));
    return page != null && page.stamp.equals(stamp) ? page.encoded : null;
  }

  /**
   * @param stamp taken before the page was made, so that a page is never taken for newer than it is
   */
  synchronized void put(int shuffleId, int fromPosition, Directory.Stamp stamp, byte[] encoded) {
    Page former = pages.put(new Key(shuffleId, fromPosition), new Page(stamp, encoded));
    bytes += encoded.length - (former == null ? 0 : former.encoded.length);
    while (bytes > maxBytes) {
      Key eldest = pages.keySet().iterator().next();
      bytes -= pages.remove(eldest).encoded.length;
    }
  }
}
