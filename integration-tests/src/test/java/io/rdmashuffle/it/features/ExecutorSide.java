package io.rdmashuffle.it.features;

import io.rdmashuffle.RdmaShuffleManager;
import io.rdmashuffle.spark.ExecutorRuntime;
import io.rdmashuffle.store.BlockStore;
import io.rdmashuffle.store.MapOutput;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.SparkEnv;
import scala.Tuple2;

/** What tests do to the shuffle from within a task, in the executor that the task runs in. */
final class ExecutorSide {
  private ExecutorSide() {}

  static BlockStore store() {
    ExecutorRuntime runtime = ((RdmaShuffleManager) SparkEnv.get().shuffleManager()).runtime();
    return runtime.store();
  }

  /** Map outputs of a shuffle that this executor holds in memory. */
  static List<MapOutput> outputs(int shuffleId) {
    List<MapOutput> found = new ArrayList<>();
    for (MapOutput output : store().outputs()) {
      if (output.shuffleId() == shuffleId) {
        found.add(output);
      }
    }
    return found;
  }

  /** The map tasks whose outputs this executor holds in memory, with its id. */
  static List<Tuple2<Long, String>> holdings(int shuffleId) {
    List<Tuple2<Long, String>> found = new ArrayList<>();
    for (MapOutput output : outputs(shuffleId)) {
      found.add(new Tuple2<>(output.mapTaskId(), SparkEnv.get().executorId()));
    }
    return found;
  }

  /** Loses them, as a fault would: neither Spark nor the driver's directory is told. */
  static List<Long> lose(int shuffleId) {
    List<Long> lost = new ArrayList<>();
    for (MapOutput output : outputs(shuffleId)) {
      if (store().remove(shuffleId, output.mapTaskId())) {
        lost.add(output.mapTaskId());
      }
    }
    return lost;
  }

  /** Loses the outputs of all shuffles. */
  static void loseAll() {
    for (MapOutput output : store().outputs()) {
      store().remove(output.shuffleId(), output.mapTaskId());
    }
  }
}
