package io.rdmashuffle.it.features;

import io.rdmashuffle.harness.LocalCluster;
import java.util.HashMap;
import java.util.Map;
import org.apache.spark.MapOutputTrackerMaster;
import org.apache.spark.SparkEnv;
import org.apache.spark.scheduler.MapStatus;

/** What the driver's map output tracker, the authority, says of a shuffle. */
final class MapOutputs {
  private MapOutputs() {}

  /** The map task whose output counts, by its index in the stage. */
  static Map<Integer, Long> mapTaskIds(int shuffleId) {
    Map<Integer, Long> ids = new HashMap<>();
    MapStatus[] statuses = statuses(shuffleId);
    for (int i = 0; i < statuses.length; i++) {
      if (statuses[i] != null) {
        ids.put(i, statuses[i].mapId());
      }
    }
    return ids;
  }

  /** The executor that each map output is said to lie on, by the map task's id. */
  static Map<Long, String> executors(int shuffleId) {
    Map<Long, String> executors = new HashMap<>();
    for (MapStatus status : statuses(shuffleId)) {
      if (status != null) {
        executors.put(status.mapId(), status.location().executorId());
      }
    }
    return executors;
  }

  /** Ids below belong to shuffles that are there already. */
  static int nextShuffle(LocalCluster cluster) {
    return cluster.context().newShuffleId();
  }

  /** By the indices of their map tasks; null where there is none. */
  static MapStatus[] statuses(int shuffleId) {
    MapOutputTrackerMaster tracker = (MapOutputTrackerMaster) SparkEnv.get().mapOutputTracker();
    return tracker.shuffleStatuses().apply(shuffleId).mapStatuses();
  }
}
