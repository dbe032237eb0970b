package io.rdmashuffle.spark;

import io.rdmashuffle.conf.BlockStoreConfig;
import io.rdmashuffle.conf.ConfigKeys;
import io.rdmashuffle.conf.Durability;
import io.rdmashuffle.conf.RdmaShuffleConf;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Tuple2;

/**
 * What the plugin needs of Spark's own settings: sets it where the user said nothing, and refuses
 * what contradicts it. On the driver this runs before executors are asked for, so that they are
 * started with the same settings.
 */
public final class SparkSettings {
  private static final Logger LOG = LoggerFactory.getLogger(SparkSettings.class);

  private static final String HOST_LOCAL_READ = "spark.shuffle.readHostLocalDisk";
  private static final String DATA_IO = "spark.shuffle.sort.io.plugin.class";
  private static final String SPARKS_DATA_IO =
      "org.apache.spark.shuffle.sort.io.LocalDiskShuffleDataIO";
  private static final String SHUFFLE_SERVICE = "spark.shuffle.service.enabled";
  private static final String PUSH = "spark.shuffle.push.enabled";

  private SparkSettings() {}

  /** Whether driver and executor are one process, so that no block is ever fetched. */
  public static boolean isLocalMode(SparkConf conf) {
    return conf.get("spark.master", "").matches("local(\\[.*])?");
  }

  /** Spark's properties as a plain map. */
  public static Map<String, String> asMap(SparkConf conf) {
    Map<String, String> properties = new LinkedHashMap<>();
    for (Tuple2<String, String> entry : conf.getAll()) {
      properties.put(entry._1(), entry._2());
    }
    return properties;
  }

  /**
   * Checks all settings and completes Spark's.
   *
   * @throws IllegalArgumentException when a setting is wrong or contradicts the plugin
   */
  public static SparkConf prepare(SparkConf conf, boolean isDriver) {
    SparkVersion.check();
    if (isLocalMode(conf)) {
      return conf;
    }
    RdmaShuffleConf settings = RdmaShuffleConf.from(asMap(conf));
    if (isDriver) {
      JarDistribution.check(conf);
      warnOfLossWithExecutors(conf, settings.blockStore());
      checkBudget(conf, settings.blockStore());
    }
    String dataIo = conf.get(DATA_IO, SPARKS_DATA_IO);
    if (!dataIo.equals(SPARKS_DATA_IO)) {
      throw new IllegalArgumentException(
          DATA_IO
              + "="
              + dataIo
              + " is another place for map outputs, which then would not reach registered memory:"
              + " remove it, or use spark.shuffle.manager=sort");
    }
    // Spark would look for the other executor's files, and map outputs in memory have none.
    if (isDriver && conf.getBoolean(HOST_LOCAL_READ, false)) {
      LOG.warn(
          "{}=true is set to false: map outputs in registered memory have no files",
          HOST_LOCAL_READ);
    }
    conf.set(HOST_LOCAL_READ, "false");
    if (conf.getBoolean(PUSH, false)) {
      if (isDriver) {
        LOG.warn("{}=true is set to false: map outputs are pulled, not pushed", PUSH);
      }
      conf.set(PUSH, "false");
    }
    return conf;
  }

  /** As far as it can be told from here; executors check the rest. */
  private static void checkBudget(SparkConf conf, BlockStoreConfig storeConfig) {
    if (storeConfig.memorySizeBytes().isEmpty()
        || durability(conf, storeConfig) == Durability.DISK) {
      return;
    }
    boolean areExecutorsHere = conf.get("spark.master", "").startsWith("local-cluster");
    MemoryBudget.check(
        storeConfig.memorySizeBytes().getAsLong(),
        areExecutorsHere
            ? MemoryRoom.onThisMachine(storeConfig.memoryDir(), conf)
            : MemoryRoom.ofSettings(conf),
        MemoryRoom.heapBytes(conf) + MemoryRoom.offHeapBytes(conf),
        storeConfig.receiveSizeBytes());
  }

  private static void warnOfLossWithExecutors(SparkConf conf, BlockStoreConfig storeConfig) {
    if (hasShuffleService(conf) && durability(conf, storeConfig) == Durability.MEMORY) {
      LOG.warn(
          "{}={} although {}=true: map outputs go with their executors and are computed again",
          ConfigKeys.DURABILITY,
          Durability.MEMORY,
          SHUFFLE_SERVICE);
    }
  }

  /** Whether blocks would be plain on the wire although Spark was told to encrypt its network. */
  public static boolean wouldPutPlainBytesOnTheWire(SparkConf conf) {
    boolean isNetworkEncrypted =
        conf.getBoolean("spark.network.crypto.enabled", false)
            || conf.getBoolean("spark.authenticate.enableSaslEncryption", false)
            || conf.getBoolean("spark.ssl.rpc.enabled", false);
    return isNetworkEncrypted && !conf.getBoolean("spark.io.encryption.enabled", false);
  }

  /** Whether an external shuffle service hands out files of executors that are gone. */
  static boolean hasShuffleService(SparkConf conf) {
    return conf.getBoolean(SHUFFLE_SERVICE, false);
  }

  /** Where map outputs are kept; with a shuffle service in files too, unless the user says else. */
  static Durability durability(SparkConf conf, BlockStoreConfig storeConfig) {
    return storeConfig
        .durability()
        .orElse(hasShuffleService(conf) ? Durability.MEMORY_AND_DISK : Durability.MEMORY);
  }
}
