package io.rdmashuffle.conf;

import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All settings of the plugin, checked, with one view per module. Immutable.
 *
 * <p>Accessors carry the unit in their name; the ranges are those that {@link ConfigKeys} allows.
 */
public final class RdmaShuffleConf {
  private static final Logger LOG = LoggerFactory.getLogger(RdmaShuffleConf.class);

  private final TransportConfig transport;
  private final BlockStoreConfig blockStore;
  private final ShuffleConfig shuffle;
  private final List<String> warnings;
  private final Map<String, String> explicit;

  private RdmaShuffleConf(ConfigReader reader) {
    transport = new TransportConfig(reader);
    blockStore = new BlockStoreConfig(reader);
    shuffle = new ShuffleConfig(reader);
    warnings = reader.warnings();
    explicit = reader.explicit();
  }

  /**
   * Reads the keys under {@code spark.shuffle.rdma.} and leaves all others alone. Logs a warning
   * for each of SparkRDMA's keys that still works.
   *
   * @param sparkProperties Spark's properties, names in full
   * @throws ConfigurationException if a key is unknown, gone or set twice, a value is not allowed,
   *     or two keys contradict each other; it names all such problems
   */
  public static RdmaShuffleConf from(Map<String, String> sparkProperties) {
    final ConfigReader reader = new ConfigReader(sparkProperties);
    validate(reader);
    if (!reader.problems().isEmpty()) {
      throw new ConfigurationException(reader.problems());
    }
    reader.warnings().forEach(LOG::warn);
    return new RdmaShuffleConf(reader);
  }

  /** Returns the settings of the {@code rdma-transport} module. */
  public TransportConfig transport() {
    return transport;
  }

  /** Returns the settings of the {@code block-store} module. */
  public BlockStoreConfig blockStore() {
    return blockStore;
  }

  /** Returns the settings of the {@code shuffle-manager} module. */
  public ShuffleConfig shuffle() {
    return shuffle;
  }

  /** Returns the warnings that {@link #from} logged, empty if none. */
  public List<String> warnings() {
    return warnings;
  }

  /** Returns the settings that were given, by key, for one line in the log. */
  @Override
  public String toString() {
    return "RdmaShuffleConf" + explicit;
  }

  private static void validate(ConfigReader reader) {
    reader.mustExceed(
        ConfigKeys.MEMORY_QUARANTINE,
        ConfigKeys.READ_TIMEOUT,
        "freed memory would be used again while a peer may still read it");
    reader.mustReach(
        ConfigKeys.MEMORY_RECEIVE_SIZE,
        ConfigKeys.MEMORY_SLAB_SIZE,
        "receive buffers need one slab at least");
    reader.mustReach(
        ConfigKeys.MEMORY_SLAB_SIZE,
        ConfigKeys.READ_CHUNK_SIZE,
        "a read must find room in one slab");
    reader.mustReach(
        ConfigKeys.MAX_BYTES_IN_FLIGHT_PER_PEER,
        ConfigKeys.READ_CHUNK_SIZE,
        "a read of full size could never be sent");
    reader.mustReach(
        ConfigKeys.MAX_BYTES_IN_FLIGHT,
        ConfigKeys.MAX_BYTES_IN_FLIGHT_PER_PEER,
        "no peer could ever have what it is allowed");
    reader.mustReach(
        ConfigKeys.QUEUE_DEPTH,
        ConfigKeys.MAX_READS_IN_FLIGHT_PER_PEER,
        "the queue could never hold the reads that are allowed");
    reader.mustReach(
        ConfigKeys.PEER_MAX_BACKOFF,
        ConfigKeys.PEER_BACKOFF,
        "the first back-off would exceed the longest");
    validateMemorySize(reader);
  }

  private static void validateMemorySize(ConfigReader reader) {
    if (reader.haveValues(ConfigKeys.MEMORY_SIZE, ConfigKeys.MEMORY_SLAB_SIZE)) {
      final long sizeBytes =
          reader.get(ConfigKeys.MEMORY_SIZE).map(DataSize::bytes).orElse(Long.MAX_VALUE);
      if (sizeBytes != 0 && sizeBytes < reader.get(ConfigKeys.MEMORY_SLAB_SIZE).bytes()) {
        reader.contradiction(
            ConfigKeys.MEMORY_SIZE,
            "<",
            ConfigKeys.MEMORY_SLAB_SIZE,
            "not one slab fits the budget, and 0 is the way to say files only");
      }
    }
  }
}
