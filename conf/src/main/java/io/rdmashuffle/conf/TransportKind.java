package io.rdmashuffle.conf;

import java.util.Locale;

/** A way for shuffle bytes to reach a reducer. */
public enum TransportKind {
  /** One-sided reads over RDMA queue pairs. */
  RDMA,
  /** Shared memory between executors on one host. */
  SHM,
  /** Spark's own Netty service; always the last resort. */
  TCP;

  /** Returns the name in settings and metrics: {@code rdma}, {@code shm} or {@code tcp}. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
