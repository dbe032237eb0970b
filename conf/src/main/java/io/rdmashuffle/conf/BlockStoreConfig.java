package io.rdmashuffle.conf;

import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalLong;

/** Settings of the {@code block-store} module. Immutable. */
public final class BlockStoreConfig {
  private final OptionalLong memorySizeBytes;
  private final long slabSizeBytes;
  private final Path memoryDir;
  private final long receiveSizeBytes;
  private final long quarantineNs;
  private final Optional<Durability> durability;
  private final long writeBehindSizeBytes;
  private final long writeBehindTimeoutNs;
  private final int filesMaxRegions;
  private final long filesMaxSizeBytes;

  BlockStoreConfig(ConfigReader reader) {
    memorySizeBytes =
        reader
            .get(ConfigKeys.MEMORY_SIZE)
            .map(size -> OptionalLong.of(size.bytes()))
            .orElse(OptionalLong.empty());
    slabSizeBytes = reader.get(ConfigKeys.MEMORY_SLAB_SIZE).bytes();
    memoryDir = Path.of(reader.get(ConfigKeys.MEMORY_DIR));
    receiveSizeBytes = reader.get(ConfigKeys.MEMORY_RECEIVE_SIZE).bytes();
    quarantineNs = reader.get(ConfigKeys.MEMORY_QUARANTINE).toNanos();
    durability = reader.get(ConfigKeys.DURABILITY);
    writeBehindSizeBytes = reader.get(ConfigKeys.WRITE_BEHIND_SIZE).bytes();
    writeBehindTimeoutNs = reader.get(ConfigKeys.WRITE_BEHIND_TIMEOUT).toNanos();
    filesMaxRegions = reader.get(ConfigKeys.FILES_MAX_REGIONS);
    filesMaxSizeBytes = reader.get(ConfigKeys.FILES_MAX_SIZE).bytes();
  }

  /**
   * Returns the budget of map-output memory per executor: empty to work it out ({@code auto}), 0
   * for the file tier alone, otherwise {@link #slabSizeBytes()} to 16 TiB. Not always a multiple of
   * the slab size.
   */
  public OptionalLong memorySizeBytes() {
    return memorySizeBytes;
  }

  /**
   * Returns the size of a slab, of map outputs and receive buffers alike: a power of two, 1 MiB to
   * 1 GiB.
   */
  public long slabSizeBytes() {
    return slabSizeBytes;
  }

  /** Returns the directory where slabs are mapped, an absolute path that need not exist. */
  public Path memoryDir() {
    return memoryDir;
  }

  /** Returns the budget of receive buffers per executor, {@link #slabSizeBytes()} to 1 TiB. */
  public long receiveSizeBytes() {
    return receiveSizeBytes;
  }

  /** Returns how long freed memory lies idle, up to 1 h; longer than any reader's deadline. */
  public long quarantineNs() {
    return quarantineNs;
  }

  /** Returns where map outputs are kept; empty to choose ({@code auto}). */
  public Optional<Durability> durability() {
    return durability;
  }

  /** Returns the bytes of map outputs that may wait for the background writer, up to 16 TiB. */
  public long writeBehindSizeBytes() {
    return writeBehindSizeBytes;
  }

  /** Returns how long a task waits for the background writer to make room, up to 10 min. */
  public long writeBehindTimeoutNs() {
    return writeBehindTimeoutNs;
  }

  /** Returns how many windows of files may be read one-sided, up to 32,768; 0 for none. */
  public int filesMaxRegions() {
    return filesMaxRegions;
  }

  /** Returns the bytes of files that may be read one-sided, up to 16 TiB; 0 for none. */
  public long filesMaxSizeBytes() {
    return filesMaxSizeBytes;
  }
}
