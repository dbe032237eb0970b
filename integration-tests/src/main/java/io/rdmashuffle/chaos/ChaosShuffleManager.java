package io.rdmashuffle.chaos;

import io.rdmashuffle.RdmaShuffleManager;
import io.rdmashuffle.spark.RuntimeWrappers;
import io.rdmashuffle.transport.FaultyTransport;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;

/** The plugin's manager, with transports and slabs that fail as the application's settings say. */
public final class ChaosShuffleManager extends RdmaShuffleManager {
  private static final String SEED = "spark.chaos.seed";

  /** Called by Spark. */
  public ChaosShuffleManager(SparkConf conf, boolean isDriver) {
    super(conf, isDriver);
  }

  /** What an application needs to be run with these faults. */
  static Map<String, String> settings(long seed) {
    return Map.of(
        "spark.shuffle.manager", ChaosShuffleManager.class.getName(), SEED, Long.toString(seed));
  }

  @Override
  protected RuntimeWrappers wrappers() {
    SparkEnv env = SparkEnv.get();
    long seed = env.conf().getLong(SEED, 0) * 31 + env.executorId().hashCode();
    InjectedFaults faults = new InjectedFaults(FaultRates.of(env.conf()), seed);
    return new RuntimeWrappers(
        slabs -> new FaultySlabFactory(slabs, faults),
        transport -> new FaultyTransport(transport, faults));
  }
}
