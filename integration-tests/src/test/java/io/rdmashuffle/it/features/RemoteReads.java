package io.rdmashuffle.it.features;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.rdmashuffle.harness.LocalCluster;
import io.rdmashuffle.it.PluginApp;
import io.rdmashuffle.jobs.ResultDigest;

/** A job whose tasks read from each other's executors. */
final class RemoteReads {
  private static final int MAPS = 6;
  private static final int REDUCERS = 6;
  private static final int ROWS = 500;

  private RemoteReads() {}

  /** Runs it and checks its result; again as long as one executor happens to do all the work. */
  static void assertRight(LocalCluster cluster) {
    ResultDigest expected = PluginApp.expected(cluster, MAPS, ROWS);
    long before = cluster.metrics().remoteBytes();
    Decommission.await(
        "one executor does all the work",
        () -> {
          assertEquals(expected, PluginApp.digest(PluginApp.moved(cluster, MAPS, REDUCERS, ROWS)));
          return cluster.metrics().remoteBytes() > before;
        });
  }
}
