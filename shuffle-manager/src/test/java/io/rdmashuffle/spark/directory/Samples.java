package io.rdmashuffle.spark.directory;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** Records that tests publish. */
final class Samples {
  static final long SLAB_LENGTH = 64L << 20;
  static final Duration SOON = Duration.ofMillis(200);
  static final Duration AMPLE = Duration.ofSeconds(20);

  private Samples() {}

  static SlabRecord slab(int slabId) {
    return new SlabRecord(
        slabId,
        SLAB_LENGTH,
        Map.of("rdma", new SlabKey(0x7F00_0000_0000L + slabId, -slabId), "shm", key(slabId)));
  }

  private static SlabKey key(int slabId) {
    return new SlabKey(0, 40 + slabId);
  }

  static List<SlabRecord> slabs(int count) {
    List<SlabRecord> slabs = new ArrayList<>();
    for (int slabId = 0; slabId < count; slabId++) {
      slabs.add(slab(slabId));
    }
    return slabs;
  }

  static byte[] token(int fill) {
    byte[] token = new byte[32];
    Arrays.fill(token, (byte) fill);
    return token;
  }

  static ExecutorRecord executor(String executorId, int slabs) {
    return executor(executorId, 7, slabs);
  }

  static ExecutorRecord executor(String executorId, int tokenFill, int slabs) {
    return new ExecutorRecord(
        executorId,
        "host-" + executorId,
        token(tokenFill),
        Map.of("rdma", new byte[] {1, 2, 3}, "shm", new byte[120]),
        slabs(slabs));
  }

  static OutputRecord output(int shuffleId, long mapTaskId) {
    return output(shuffleId, mapTaskId, 0, mapTaskId + 1);
  }

  static OutputRecord output(int shuffleId, long mapTaskId, int slabId, long generation) {
    return new OutputRecord(shuffleId, mapTaskId, slabId, 8 * mapTaskId, 512, generation);
  }

  static DirectoryLimits pagesOf(int entries) {
    return new DirectoryLimits(100, 100, 100, 1_000_000, 1L << 30, entries);
  }
}
