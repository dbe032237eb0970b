package io.rdmashuffle.demo;

import io.rdmashuffle.harness.JobReport;
import java.util.Optional;

/** One job run with both shuffles. */
record Comparison(JobReport sort, JobReport plugin) {
  /** How the plugin's result differs, if it does. */
  Optional<String> difference() {
    return plugin.result().differenceFrom(sort.result());
  }

  /** Above 1 the plugin is faster. */
  double speedup() {
    return sort.seconds() / plugin.seconds();
  }

  /** Whether the plugin accounts for every remote byte Spark counted. */
  boolean accounted() {
    return plugin.totals().allBytes() == plugin.metrics().remoteBytes();
  }
}
