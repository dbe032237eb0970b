package io.rdmashuffle.spark;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import java.util.StringJoiner;

/**
 * How much memory map outputs may take when the user did not say: what tmpfs, the container and the
 * host have room for, each by half or less, so that other executors on the host fit too. Memory is
 * taken as outputs come, so an unused budget costs nothing.
 *
 * @param bytes the budget, a multiple of the slab size, perhaps 0
 * @param explanation how it came about, for the log
 */
record MemoryBudget(long bytes, String explanation) {
  private static final long MIB = 1L << 20;

  /** Beside the heap a JVM of Spark's needs about this for code, metaspace, stacks and Netty. */
  private static final long JVM_OVERHEAD_BYTES = 512 * MIB;

  private static final Path MEMORY_INFO = Path.of("/proc/meminfo");
  private static final List<Path> CONTAINER_LIMITS =
      List.of(
          Path.of("/sys/fs/cgroup/memory.max"),
          Path.of("/sys/fs/cgroup/memory/memory.limit_in_bytes"));

  /** What the machine has to give; absent where it cannot be told. */
  record Room(OptionalLong tmpfsFree, OptionalLong hostAvailable, OptionalLong containerLimit) {
    static Room ofThisMachine(Path memoryDir) {
      return new Room(usableSpace(memoryDir), hostAvailableBytes(), containerLimitBytes());
    }
  }

  /**
   * The budget when the setting is {@code auto}.
   *
   * @param heapBytes largest heap of this JVM
   * @param receiveBytes budget of the receive buffers, which come out of the same memory
   */
  static MemoryBudget automatic(Room room, long heapBytes, long receiveBytes, long slabBytes) {
    long least = Long.MAX_VALUE;
    StringJoiner why = new StringJoiner(", ", "the least of ", "");
    if (room.tmpfsFree().isPresent()) {
      long half = room.tmpfsFree().getAsLong() / 2 - receiveBytes;
      least = Math.min(least, half);
      why.add("half of the tmpfs's free space less receive buffers " + mib(half));
    }
    if (room.hostAvailable().isPresent()) {
      long quarter = room.hostAvailable().getAsLong() / 4;
      least = Math.min(least, quarter);
      why.add("a quarter of the host's available memory " + mib(quarter));
    }
    if (room.containerLimit().isPresent()) {
      long rest = room.containerLimit().getAsLong() - heapBytes - JVM_OVERHEAD_BYTES - receiveBytes;
      least = Math.min(least, rest);
      why.add("container limit less heap, JVM overhead and receive buffers " + mib(rest));
    }
    long bytes = least == Long.MAX_VALUE ? 0 : Math.max(0, least) / slabBytes * slabBytes;
    return new MemoryBudget(bytes, why.toString());
  }

  private static String mib(long bytes) {
    return bytes / MIB + " MiB";
  }

  private static OptionalLong usableSpace(Path directory) {
    try {
      return OptionalLong.of(Files.getFileStore(directory).getUsableSpace());
    } catch (IOException e) {
      return OptionalLong.empty();
    }
  }

  private static OptionalLong hostAvailableBytes() {
    try {
      for (String line : Files.readAllLines(MEMORY_INFO)) {
        if (line.startsWith("MemAvailable:")) {
          return OptionalLong.of(Long.parseLong(line.replaceAll("[^0-9]", "")) * 1024);
        }
      }
    } catch (IOException | NumberFormatException e) {
      return OptionalLong.empty();
    }
    return OptionalLong.empty();
  }

  /**
   * The limit of the container, absent when there is none ("max", or more than any machine has).
   */
  private static OptionalLong containerLimitBytes() {
    for (Path file : CONTAINER_LIMITS) {
      try {
        long limit = Long.parseLong(Files.readString(file).trim());
        if (limit < 1L << 50) {
          return OptionalLong.of(limit);
        }
      } catch (IOException | NumberFormatException e) {
        // Not this version of cgroups, or "max".
      }
    }
    return OptionalLong.empty();
  }
}
