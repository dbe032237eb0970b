package io.rdmashuffle.spark.directory;

import java.util.Objects;

/**
 * An executor as the driver last described it.
 *
 * @param executor who it is, with its slabs at that time
 * @param version version of the slab table; grows with every change
 */
public record PeerRecord(ExecutorRecord executor, long version) {
  public PeerRecord {
    Objects.requireNonNull(executor, "executor");
    Bounds.check(version > 0, "version=%d is not positive", version);
  }

  public String executorId() {
    return executor.executorId();
  }

  /** The slab with that id, or null when this version of the table has none. */
  public SlabRecord slab(int slabId) {
    return executor.slab(slabId);
  }
}
