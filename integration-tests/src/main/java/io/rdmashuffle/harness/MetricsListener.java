package io.rdmashuffle.harness;

import org.apache.spark.Success$;
import org.apache.spark.executor.ShuffleReadMetrics;
import org.apache.spark.executor.ShuffleWriteMetrics;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;

/** Sums what tasks report when they end. */
final class MetricsListener extends SparkListener {
  private ShuffleMetrics sum = ShuffleMetrics.ZERO;

  @Override
  public synchronized void onTaskEnd(SparkListenerTaskEnd end) {
    int failed = end.reason() == Success$.MODULE$ ? 0 : 1;
    TaskMetrics metrics = end.taskMetrics();
    if (metrics == null) {
      // A lost executor's task has none.
      sum = sum.plus(new ShuffleMetrics(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, failed));
      return;
    }
    ShuffleReadMetrics read = metrics.shuffleReadMetrics();
    ShuffleWriteMetrics write = metrics.shuffleWriteMetrics();
    sum =
        sum.plus(
            new ShuffleMetrics(
                read.remoteBytesRead(),
                read.remoteBlocksFetched(),
                read.localBytesRead(),
                read.localBlocksFetched(),
                read.fetchWaitTime(),
                write.bytesWritten(),
                write.recordsWritten(),
                write.writeTime(),
                metrics.diskBytesSpilled(),
                metrics.executorCpuTime(),
                metrics.executorRunTime(),
                metrics.jvmGCTime(),
                1,
                failed));
  }

  synchronized ShuffleMetrics sum() {
    return sum;
  }
}
