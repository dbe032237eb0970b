package io.rdmashuffle.harness;

import java.io.Serializable;

/** Spark's own shuffle metrics, summed over tasks; failed tasks count too, as they do in Spark. */
public record ShuffleMetrics(
    long remoteBytes,
    long remoteBlocks,
    long localBytes,
    long localBlocks,
    long fetchWaitMillis,
    long writtenBytes,
    long writtenRecords,
    long writeNanos,
    long spilledToDisk,
    long cpuNanos,
    long runMillis,
    long gcMillis,
    long tasks,
    long failedTasks)
    implements Serializable {

  /** Nothing counted. */
  public static final ShuffleMetrics ZERO =
      new ShuffleMetrics(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);

  /** Field by field. */
  public ShuffleMetrics plus(ShuffleMetrics o) {
    return combine(o, 1);
  }

  /** Field by field. */
  public ShuffleMetrics minus(ShuffleMetrics o) {
    return combine(o, -1);
  }

  private ShuffleMetrics combine(ShuffleMetrics o, int sign) {
    return new ShuffleMetrics(
        remoteBytes + sign * o.remoteBytes,
        remoteBlocks + sign * o.remoteBlocks,
        localBytes + sign * o.localBytes,
        localBlocks + sign * o.localBlocks,
        fetchWaitMillis + sign * o.fetchWaitMillis,
        writtenBytes + sign * o.writtenBytes,
        writtenRecords + sign * o.writtenRecords,
        writeNanos + sign * o.writeNanos,
        spilledToDisk + sign * o.spilledToDisk,
        cpuNanos + sign * o.cpuNanos,
        runMillis + sign * o.runMillis,
        gcMillis + sign * o.gcMillis,
        tasks + sign * o.tasks,
        failedTasks + sign * o.failedTasks);
  }
}
