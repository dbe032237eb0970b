package io.rdmashuffle.chaos;

import java.util.Map;
import org.apache.spark.SparkConf;

/**
 * How often the plugin's own calls fail in an executor; each a share from 0 to 1. It travels in
 * settings of the application, which only {@link ChaosShuffleManager} reads.
 *
 * @param read of reads; errors, late and missing completions
 * @param corrupt of reads whose bytes are damaged
 * @param connect of connects
 * @param register of registrations of slabs
 * @param allocate of allocations of slabs
 */
public record FaultRates(
    double read, double corrupt, double connect, double register, double allocate) {
  /** Nothing fails. */
  public static final FaultRates NONE = new FaultRates(0, 0, 0, 0, 0);

  private static final String PREFIX = "spark.chaos.";

  /** As settings of the application. */
  Map<String, String> asSettings() {
    return Map.of(
        PREFIX + "read", Double.toString(read),
        PREFIX + "corrupt", Double.toString(corrupt),
        PREFIX + "connect", Double.toString(connect),
        PREFIX + "register", Double.toString(register),
        PREFIX + "allocate", Double.toString(allocate));
  }

  static FaultRates of(SparkConf conf) {
    return new FaultRates(
        conf.getDouble(PREFIX + "read", 0),
        conf.getDouble(PREFIX + "corrupt", 0),
        conf.getDouble(PREFIX + "connect", 0),
        conf.getDouble(PREFIX + "register", 0),
        conf.getDouble(PREFIX + "allocate", 0));
  }
}
