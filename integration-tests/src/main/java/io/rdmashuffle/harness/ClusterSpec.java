package io.rdmashuffle.harness;

import java.io.Serializable;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What an application on {@code local-cluster} looks like.
 *
 * @param fastStart C1, serial collector and class-data archive: for tests, never for measurements
 * @param conf Spark settings besides those the harness sets; they win over the harness's own
 */
public record ClusterSpec(
    String name,
    ShuffleMode mode,
    int executors,
    int cores,
    int memoryMb,
    boolean fastStart,
    Map<String, String> conf)
    implements Serializable {

  /** Copies the settings. */
  public ClusterSpec {
    conf = Map.copyOf(conf);
  }

  /** Two executors of one core and 1 GiB, started fast. */
  public static ClusterSpec forTests(String name, ShuffleMode mode) {
    return new ClusterSpec(name, mode, 2, 1, 1024, true, Map.of());
  }

  /** Two executors of one core and 1 GiB with the JVM's normal settings. */
  public static ClusterSpec forMeasuring(String name, ShuffleMode mode) {
    return new ClusterSpec(name, mode, 2, 1, 1024, false, Map.of());
  }

  /** The same with one more setting. */
  public ClusterSpec with(String key, String value) {
    return with(Map.of(key, value));
  }

  /** The same with more settings. */
  public ClusterSpec with(Map<String, String> more) {
    Map<String, String> all = new LinkedHashMap<>(conf);
    all.putAll(more);
    return new ClusterSpec(name, mode, executors, cores, memoryMb, fastStart, all);
  }

  /** The same with other executors. */
  public ClusterSpec sized(int newExecutors, int newCores, int newMemoryMb) {
    return new ClusterSpec(name, mode, newExecutors, newCores, newMemoryMb, fastStart, conf);
  }
}
