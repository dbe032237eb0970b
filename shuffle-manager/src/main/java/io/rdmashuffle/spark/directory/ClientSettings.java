package io.rdmashuffle.spark.directory;

import java.time.Duration;

/**
 * Settings of a {@link DirectoryClient}.
 *
 * @param askTimeout longest time one shared request to the driver may take, finding the driver
 *     included; each caller also has its own deadline
 * @param negativeTtl how long "not there" and "could not ask" are believed without asking again
 * @param maxLocationBytes most bytes of heap for cached locations; beyond, the shuffle used longest
 *     ago is forgotten, and what still does not fit is not located
 * @param maxPeers most cached peer records
 */
public record ClientSettings(
    Duration askTimeout, Duration negativeTtl, long maxLocationBytes, int maxPeers) {
  public ClientSettings {
    Bounds.check(
        !askTimeout.isNegative() && !askTimeout.isZero(),
        "askTimeout=%s is not positive",
        askTimeout);
    Bounds.check(!negativeTtl.isNegative(), "negativeTtl=%s is negative", negativeTtl);
    Bounds.check(maxLocationBytes > 0, "maxLocationBytes=%d is not positive", maxLocationBytes);
    Bounds.check(maxPeers > 0, "maxPeers=%d is not positive", maxPeers);
  }

  /** One second of negative memory, 256 MiB of locations (three million at worst), 16,384 peers. */
  public static ClientSettings withTimeout(Duration askTimeout) {
    return new ClientSettings(askTimeout, Duration.ofSeconds(1), 256L << 20, 16_384);
  }
}
