package io.rdmashuffle.chaos;

import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;

/** Places for applications to run in that can be filled up, for all rounds of a run. */
final class Arena implements AutoCloseable {
  // Less than the executors of a round may want together.
  static final int MEMORY_MB = 96;
  private static final int DISK_MB = 512;

  private final Path directory;
  private final SmallFileSystem memory;
  private final SmallFileSystem disk;

  private Arena(Path directory, SmallFileSystem memory, SmallFileSystem disk) {
    this.directory = directory;
    this.memory = memory;
    this.disk = disk;
  }

  static Arena open(Path directory) {
    SmallFileSystem memory =
        SmallFileSystem.open(directory.resolve("memory"), MEMORY_MB, Path.of("/dev/shm"));
    return new Arena(
        directory,
        memory,
        SmallFileSystem.open(directory.resolve("disk"), DISK_MB, directory.resolve("local")));
  }

  SmallFileSystem memory() {
    return memory;
  }

  SmallFileSystem disk() {
    return disk;
  }

  /** Has an application use these places, and the link if there is one. */
  Map<String, String> settings() {
    Map<String, String> settings = new TreeMap<>();
    settings.put("spark.shuffle.rdma.memory.dir", memory.directory().toString());
    settings.put("spark.local.dir", disk.directory().toString());
    if (Link.isPresent()) {
      settings.putAll(Link.settings(directory.resolve("launcher")));
    }
    return settings;
  }

  @Override
  public void close() {
    try {
      memory.close();
    } finally {
      disk.close();
    }
  }
}
