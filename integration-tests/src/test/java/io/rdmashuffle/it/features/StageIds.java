package io.rdmashuffle.it.features;

import io.rdmashuffle.harness.LocalCluster;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.JobExecutionStatus;
import org.apache.spark.SparkJobInfo;
import org.apache.spark.SparkStageInfo;

/** Stages that ran, by their ids. */
final class StageIds {
  private StageIds() {}

  /** Of all jobs that ended well; stages that were skipped are left out. */
  static List<Integer> ofAllJobs(LocalCluster cluster) {
    List<Integer> stages = new ArrayList<>();
    var tracker = cluster.context().statusTracker();
    for (int job : tracker.getJobIdsForGroup(null)) {
      SparkJobInfo info = tracker.getJobInfo(job).get();
      if (info.status() == JobExecutionStatus.SUCCEEDED) {
        for (int stage : info.stageIds()) {
          SparkStageInfo ran = tracker.getStageInfo(stage).getOrElse(() -> null);
          if (ran != null && ran.numCompletedTasks() > 0) {
            stages.add(stage);
          }
        }
      }
    }
    return stages;
  }
}
