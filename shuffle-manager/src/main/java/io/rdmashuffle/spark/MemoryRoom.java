package io.rdmashuffle.spark;

import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.apache.spark.SparkConf;

/**
 * The memory there is for an executor, by what limits it, in bytes. Limits that cannot be told are
 * absent.
 */
record MemoryRoom(Map<Limit, Long> limits) {
  /** What may limit memory. */
  enum Limit {
    /** Space that is free now on the tmpfs of slabs. */
    TMPFS_FREE,
    /** Space of that tmpfs in all. */
    TMPFS_SIZE,
    /** Memory of the host that programs can have now. */
    HOST_AVAILABLE,
    /** Memory of the host in all. */
    HOST_SIZE,
    /** What the container may hold, heap included. */
    CONTAINER,
    /** What this process may have locked, as memory registered with a device is. */
    LOCKED,
    /** What the cluster manager was told to grant beside the heap. */
    OVERHEAD
  }

  private static final long MIB = 1L << 20;

  private static final Path STATUS = Path.of("/proc/self/status");
  private static final Path LIMITS = Path.of("/proc/self/limits");
  private static final long CAP_IPC_LOCK = 1L << 14;
  private static final Path MEMORY_INFO = Path.of("/proc/meminfo");
  private static final List<Path> CONTAINER_LIMITS =
      List.of(
          Path.of("/sys/fs/cgroup/memory.max"),
          Path.of("/sys/fs/cgroup/memory/memory.limit_in_bytes"));

  /** Spark's own least overhead. */
  private static final long LEAST_OVERHEAD_MIB = 384;

  MemoryRoom {
    limits = Map.copyOf(limits);
  }

  /**
   * For an executor on this machine.
   *
   * @param memoryDir where slabs are mapped
   */
  static MemoryRoom onThisMachine(Path memoryDir, SparkConf conf) {
    Map<Limit, Long> limits = new EnumMap<>(Limit.class);
    addTmpfs(memoryDir, limits);
    addHost(limits);
    addContainer(limits);
    addLocked(limits);
    addOverhead(conf, limits);
    return new MemoryRoom(limits);
  }

  /** For an executor anywhere: what can be told from the settings. */
  static MemoryRoom ofSettings(SparkConf conf) {
    Map<Limit, Long> limits = new EnumMap<>(Limit.class);
    addOverhead(conf, limits);
    return new MemoryRoom(limits);
  }

  OptionalLong of(Limit limit) {
    Long bytes = limits.get(limit);
    return bytes == null ? OptionalLong.empty() : OptionalLong.of(bytes);
  }

  private static void addTmpfs(Path directory, Map<Limit, Long> limits) {
    try {
      FileStore store = Files.getFileStore(directory);
      limits.put(Limit.TMPFS_FREE, store.getUsableSpace());
      if (store.getTotalSpace() > 0) {
        limits.put(Limit.TMPFS_SIZE, store.getTotalSpace());
      }
    } catch (IOException e) {
      // No such directory: slabs are anonymous memory then.
    }
  }

  private static void addHost(Map<Limit, Long> limits) {
    try {
      List<String> lines = Files.readAllLines(MEMORY_INFO);
      number("MemAvailable:", 10, lines)
          .ifPresent(kib -> limits.put(Limit.HOST_AVAILABLE, kib * 1024));
      number("MemTotal:", 10, lines).ifPresent(kib -> limits.put(Limit.HOST_SIZE, kib * 1024));
    } catch (IOException e) {
      // Not this kernel.
    }
  }

  private static void addLocked(Map<Limit, Long> limits) {
    try {
      locked(Files.readAllLines(STATUS), Files.readAllLines(LIMITS))
          .ifPresent(bytes -> limits.put(Limit.LOCKED, bytes));
    } catch (IOException e) {
      // Not this kernel.
    }
  }

  /**
   * There is none when it is "unlimited", or for who has CAP_IPC_LOCK.
   *
   * @param status lines of {@code /proc/self/status}
   * @param limits lines of {@code /proc/self/limits}
   */
  static OptionalLong locked(List<String> status, List<String> limits) {
    OptionalLong capabilities = number("CapEff:", 16, status);
    boolean isLimited = capabilities.isPresent() && (capabilities.getAsLong() & CAP_IPC_LOCK) == 0;
    return isLimited ? number("Max locked memory", 10, limits) : OptionalLong.empty();
  }

  /** The first word behind a name in one of the lines, if it is there and a number. */
  private static OptionalLong number(String name, int radix, List<String> lines) {
    for (String line : lines) {
      if (line.startsWith(name)) {
        String word = line.substring(name.length()).trim().replaceAll("\\s.*", "");
        try {
          return OptionalLong.of(Long.parseUnsignedLong(word, radix));
        } catch (NumberFormatException e) {
          return OptionalLong.empty();
        }
      }
    }
    return OptionalLong.empty();
  }

  /** There is none when it is "max", or more than any machine has. */
  private static void addContainer(Map<Limit, Long> limits) {
    for (Path file : CONTAINER_LIMITS) {
      try {
        long limit = Long.parseLong(Files.readString(file).trim());
        if (limit < 1L << 50) {
          limits.put(Limit.CONTAINER, limit);
          return;
        }
      } catch (IOException | NumberFormatException e) {
        // Not this version of cgroups, or "max".
      }
    }
  }

  /** YARN and Kubernetes size containers by settings; YARN's have no control group by default. */
  private static void addOverhead(SparkConf conf, Map<Limit, Long> limits) {
    String master = conf.get("spark.master", "");
    if (!master.startsWith("yarn") && !master.startsWith("k8s://")) {
      return;
    }
    double factor =
        conf.getDouble(
            "spark.executor.memoryOverheadFactor",
            conf.getDouble("spark.kubernetes.memoryOverheadFactor", 0.1));
    long least = conf.getSizeAsMb("spark.executor.minMemoryOverhead", LEAST_OVERHEAD_MIB + "m");
    long byFactor = (long) (heapMib(conf) * factor);
    long overhead =
        conf.getSizeAsMb("spark.executor.memoryOverhead", Math.max(least, byFactor) + "m");
    limits.put(Limit.OVERHEAD, overhead * MIB);
  }

  /** Heap that executors are given. */
  static long heapBytes(SparkConf conf) {
    return heapMib(conf) * MIB;
  }

  /** Memory outside the heap that Spark itself may take for what tasks store and work on. */
  static long offHeapBytes(SparkConf conf) {
    return conf.getBoolean("spark.memory.offHeap.enabled", false)
        ? conf.getSizeAsBytes("spark.memory.offHeap.size", "0")
        : 0;
  }

  private static long heapMib(SparkConf conf) {
    return conf.getSizeAsMb("spark.executor.memory", "1g");
  }
}
