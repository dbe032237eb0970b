package io.rdmashuffle.it.reliability;

import io.rdmashuffle.harness.Gate;
import io.rdmashuffle.harness.LocalCluster;
import java.io.Serializable;
import java.util.List;
import org.apache.spark.SparkEnv;

/** Stops the shuffle manager of each of two executors, from a gate on; marks as in a gated job. */
final class GatedStop implements Serializable {
  private static final long serialVersionUID = 1L;

  private final Gate gate;

  GatedStop(Gate gate) {
    this.gate = gate;
  }

  /** How many were stopped. */
  long run(LocalCluster cluster) {
    return cluster.java().parallelize(List.of(0, 1), 2).filter(this::stopOne).count();
  }

  private boolean stopOne(int task) {
    int executor = Integer.parseInt(SparkEnv.get().executorId());
    gate.pass(executor);
    SparkEnv.get().shuffleManager().stop();
    gate.leave(executor);
    return true;
  }
}
