package io.rdmashuffle.bench;

import io.rdmashuffle.harness.ExecutorProcess;
import io.rdmashuffle.harness.LocalCluster;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.commons.lang3.SerializationUtils;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.function.Function0;
import scala.Tuple2;

/**
 * Runs something in executors that are named, which Spark has no way to ask for: tasks that come to
 * another one do nothing, and are tried again.
 */
final class ExecutorTasks {
  private static final int ATTEMPTS = 20;

  private ExecutorTasks() {}

  /**
   * Runs it in one executor; perhaps more than once.
   *
   * @throws IllegalStateException when the executor is given no task
   */
  static <T extends Serializable> T runOn(
      LocalCluster cluster, String executorId, Function0<T> what) {
    return run(cluster, List.of(executorId), what).get(0);
  }

  /** Runs it in every executor; perhaps more than once. */
  static <T extends Serializable> List<T> runOnAll(LocalCluster cluster, Function0<T> what) {
    return run(cluster, cluster.executors().stream().map(ExecutorProcess::id).toList(), what);
  }

  private static <T extends Serializable> List<T> run(
      LocalCluster cluster, List<String> executorIds, Function0<T> what) {
    int count = cluster.spec().executors() * cluster.spec().cores();
    List<Integer> tasks = IntStream.range(0, count).boxed().toList();
    Map<String, byte[]> results = new LinkedHashMap<>();
    for (int attempt = 0; attempt < ATTEMPTS && results.size() < executorIds.size(); attempt++) {
      List<String> missing = new ArrayList<>(executorIds);
      missing.removeAll(results.keySet());
      cluster
          .java()
          .parallelize(tasks, count)
          .map(task -> runHere(missing, what))
          .collect()
          .forEach(
              result -> {
                if (result._2().length > 0) {
                  results.putIfAbsent(result._1(), result._2());
                }
              });
    }
    if (results.size() < executorIds.size()) {
      throw new IllegalStateException(
          "Spark gave tasks to executors " + results.keySet() + " only, of " + executorIds);
    }
    return results.values().stream().map(SerializationUtils::<T>deserialize).toList();
  }

  /** As bytes, since Kryo, which may be the application's serializer, cannot write records. */
  private static <T extends Serializable> Tuple2<String, byte[]> runHere(
      List<String> executorIds, Function0<T> what) throws Exception {
    String here = SparkEnv.get().executorId();
    byte[] result =
        executorIds.contains(here) ? SerializationUtils.serialize(what.call()) : new byte[0];
    return new Tuple2<>(here, result);
  }
}
