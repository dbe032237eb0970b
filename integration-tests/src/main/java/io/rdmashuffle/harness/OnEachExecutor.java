package io.rdmashuffle.harness;

import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaFutureAction;
import scala.Tuple2;

/** Runs something once in each executor of a cluster whose executors have one core. */
public final class OnEachExecutor {
  /** What to run there. */
  public interface Work<T> extends Serializable {
    T run() throws Exception;
  }

  private OnEachExecutor() {}

  /** The results by executor id. */
  public static <T> Map<String, T> run(LocalCluster cluster, Work<T> work) {
    int executors = cluster.spec().executors();
    Path directory = temporaryDirectory();
    try {
      // A task that waits holds its core, so that each executor gets one.
      Gate gate = new Gate(directory);
      JavaFutureAction<List<Tuple2<String, T>>> tasks =
          cluster
              .java()
              .parallelize(IntStream.range(0, executors).boxed().toList(), executors)
              .map(
                  task -> {
                    gate.pass(task);
                    return new Tuple2<>(SparkEnv.get().executorId(), work.run());
                  })
              .collectAsync();
      gate.awaitArrivals(executors);
      gate.open();
      Map<String, T> results = new TreeMap<>();
      tasks.get().forEach(result -> results.put(result._1(), result._2()));
      return results;
    } catch (ExecutionException e) {
      throw new IllegalStateException("a task failed", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    } finally {
      delete(directory);
    }
  }

  private static Path temporaryDirectory() {
    try {
      return Files.createTempDirectory("executors");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void delete(Path directory) {
    try (Stream<Path> files = Files.walk(directory)) {
      List<Path> all = new ArrayList<>(files.toList());
      all.sort(Comparator.reverseOrder());
      for (Path file : all) {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("cannot delete " + directory, e);
    }
  }
}
