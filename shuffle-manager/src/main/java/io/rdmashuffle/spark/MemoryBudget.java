package io.rdmashuffle.spark;

import io.rdmashuffle.conf.ConfigKeys;
import io.rdmashuffle.spark.MemoryRoom.Limit;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.StringJoiner;

/**
 * How much memory map outputs may take. When the user did not say: what tmpfs, the container and
 * the host have room for, each by half or less, so that other executors on the host fit too. Memory
 * is taken as outputs come, so an unused budget costs nothing. When the user did say, what cannot
 * be is refused.
 *
 * @param bytes the budget, a multiple of the slab size, perhaps 0
 * @param explanation how it came about, for the log
 */
record MemoryBudget(long bytes, String explanation) {
  private static final long MIB = 1L << 20;

  /** Beside the heap a JVM of Spark's needs about this for code, metaspace, stacks and Netty. */
  private static final long JVM_OVERHEAD_BYTES = 512 * MIB;

  /** What a part of the room admits, and how it was reckoned. */
  private record Bound(long bytes, String reckoning) {
    static Bound of(long bytes, String reckoning) {
      return new Bound(bytes, reckoning + " " + mib(bytes));
    }
  }

  /**
   * The budget when the setting is {@code auto}.
   *
   * @param sparkBytes largest heap of this JVM, and memory that Spark takes outside of it
   * @param receiveBytes budget of the receive buffers, which come out of the same memory
   */
  static MemoryBudget automatic(
      MemoryRoom room, long sparkBytes, long receiveBytes, long slabBytes) {
    List<Bound> bounds = new ArrayList<>();
    room.of(Limit.TMPFS_FREE)
        .ifPresent(
            free ->
                bounds.add(
                    Bound.of(
                        free / 2 - receiveBytes,
                        "half of the tmpfs's free space less receive buffers")));
    room.of(Limit.HOST_AVAILABLE)
        .ifPresent(
            available ->
                bounds.add(Bound.of(available / 4, "a quarter of the host's available memory")));
    room.of(Limit.CONTAINER)
        .ifPresent(
            limit ->
                bounds.add(
                    Bound.of(
                        limit - sparkBytes - JVM_OVERHEAD_BYTES - receiveBytes,
                        "container limit less heap, off-heap memory, JVM overhead and receive buffers")));
    room.of(Limit.OVERHEAD)
        .ifPresent(
            overhead ->
                bounds.add(
                    Bound.of(
                        overhead - JVM_OVERHEAD_BYTES - receiveBytes,
                        "spark.executor.memoryOverhead less JVM overhead and receive buffers")));
    StringJoiner why = new StringJoiner(", ", "the least of ", "");
    bounds.forEach(bound -> why.add(bound.reckoning()));
    OptionalLong least = bounds.stream().mapToLong(Bound::bytes).min();
    long bytes = Math.max(0, least.orElse(0)) / slabBytes * slabBytes;
    return new MemoryBudget(bytes, why.toString());
  }

  /**
   * Refuses a budget that cannot be had, however little else there is. How much of locked memory
   * registrations may take is no reason: what cannot be registered is read over shared memory and
   * TCP.
   *
   * @param sparkBytes largest heap of the executor, and memory that Spark takes outside of it
   * @throws IllegalArgumentException with the arithmetic and what to do
   */
  static void check(long bytes, MemoryRoom room, long sparkBytes, long receiveBytes) {
    refuseAbove(
        bytes,
        room.of(Limit.TMPFS_SIZE),
        receiveBytes,
        "the tmpfs of " + ConfigKeys.MEMORY_DIR,
        "receive buffers");
    refuseAbove(
        bytes,
        room.of(Limit.HOST_SIZE),
        sparkBytes + receiveBytes,
        "the memory of the host",
        "heap, off-heap memory and receive buffers");
    refuseAbove(
        bytes,
        room.of(Limit.CONTAINER),
        sparkBytes + receiveBytes,
        "the limit of the container",
        "heap, off-heap memory and receive buffers");
    refuseAbove(
        bytes,
        room.of(Limit.OVERHEAD),
        receiveBytes,
        "spark.executor.memoryOverhead",
        "receive buffers");
  }

  /**
   * How many bytes of files may stay in memory beside Spark's, receive buffers and map outputs.
   *
   * @param sparkBytes as in {@link #check}
   * @return a quarter of the host's memory at most
   */
  static long leftForFiles(MemoryRoom room, long sparkBytes, long receiveBytes, long memoryBytes) {
    long taken = JVM_OVERHEAD_BYTES + receiveBytes + memoryBytes;
    long inContainer = room.of(Limit.CONTAINER).orElse(Long.MAX_VALUE) - sparkBytes - taken;
    long inOverhead = room.of(Limit.OVERHEAD).orElse(Long.MAX_VALUE) - taken;
    // Slabs that come later must find some left: one that is refused is refused for good.
    long locked = room.of(Limit.LOCKED).orElse(Long.MAX_VALUE) - receiveBytes - memoryBytes;
    long onHost = room.of(Limit.HOST_AVAILABLE).orElse(Long.MAX_VALUE) / 4;
    long least = Math.min(Math.min(inContainer, inOverhead), Math.min(locked, onHost));
    return Math.max(0, least);
  }

  private static void refuseAbove(
      long bytes, OptionalLong limit, long takenBytes, String what, String takenBy) {
    if (limit.isPresent() && bytes > limit.getAsLong() - takenBytes) {
      throw new IllegalArgumentException(
          ConfigKeys.MEMORY_SIZE
              + " is "
              + mib(bytes)
              + ", but "
              + what
              + ", "
              + mib(limit.getAsLong())
              + ", less "
              + takenBy
              + ", "
              + mib(takenBytes)
              + ", leaves "
              + mib(limit.getAsLong() - takenBytes)
              + ": lower the setting, leave it at auto, or raise that limit");
    }
  }

  private static String mib(long bytes) {
    return bytes / MIB + " MiB";
  }
}
