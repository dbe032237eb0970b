package io.rdmashuffle.harness;

import io.rdmashuffle.jobs.Job;
import io.rdmashuffle.jobs.JobInput;
import io.rdmashuffle.jobs.ResultDigest;

/** Runs one job on a cluster and measures it. */
public final class JobRunner {
  private final LocalCluster cluster;

  /** For a running cluster. */
  public JobRunner(LocalCluster cluster) {
    this.cluster = cluster;
  }

  /** Prepares, then runs and times the job, then waits for the accounting to catch up. */
  public JobReport run(Job job, JobInput input) {
    job.prepare(cluster.spark(), input);
    ShuffleMetrics metricsBefore = cluster.metrics();
    PluginTotals totalsBefore = totals();
    double cpuBefore = executorCpu();
    long start = System.nanoTime();
    ResultDigest result = job.run(cluster.spark(), input);
    double seconds = (System.nanoTime() - start) / 1e9;
    double cpuSeconds = executorCpu() - cpuBefore;
    ShuffleMetrics metrics = cluster.metrics().minus(metricsBefore);
    return new JobReport(
        job.name(), seconds, cpuSeconds, result, metrics, totals().since(totalsBefore));
  }

  private double executorCpu() {
    return cluster.executors().stream().mapToDouble(ExecutorProcess::cpuSeconds).sum();
  }

  private PluginTotals totals() {
    return cluster.spec().mode() == ShuffleMode.PLUGIN ? cluster.totals() : PluginTotals.ZERO;
  }
}
