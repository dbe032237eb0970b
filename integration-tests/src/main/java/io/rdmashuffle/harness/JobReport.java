package io.rdmashuffle.harness;

import io.rdmashuffle.jobs.ResultDigest;
import java.io.Serializable;

/**
 * One run of one job.
 *
 * @param processCpuSeconds of the executors' processes: tasks, and what compiles, collects and
 *     serves
 * @param totals what the plugin read during it; all zero in a sort-shuffle application
 */
public record JobReport(
    String job,
    double seconds,
    double processCpuSeconds,
    ResultDigest result,
    ShuffleMetrics metrics,
    PluginTotals totals)
    implements Serializable {}
