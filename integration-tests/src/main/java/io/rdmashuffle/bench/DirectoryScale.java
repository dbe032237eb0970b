package io.rdmashuffle.bench;

import io.rdmashuffle.spark.directory.DirectoryException;
import io.rdmashuffle.spark.directory.DirectorySimulation;
import java.util.ArrayList;
import java.util.List;

/** What a map output costs the driver, whether there are few of them or many. */
final class DirectoryScale {
  /** So many outputs are published for each size, in as many directories as that takes. */
  private static final int OUTPUTS_IN_ALL = 200_000;

  private static final int EXECUTORS = 10;
  private static final int WARM_UPS = 2;
  private static final int COLLECTIONS = 3;

  /**
   * Of one output.
   *
   * @param nanos of the driver for its publication
   * @param messageBytes of its publication
   * @param accountedBytes of heap, by the directory's own books
   * @param heapBytes of heap, measured
   */
  record Cost(
      int outputs, double nanos, double messageBytes, double accountedBytes, double heapBytes) {}

  private DirectoryScale() {}

  /** Measures publications to directories of that many outputs. */
  static Cost measure(int outputs) throws DirectoryException {
    for (int i = 0; i < WARM_UPS; i++) {
      new DirectorySimulation(EXECUTORS).publish(OUTPUTS_IN_ALL / 2);
    }
    List<DirectorySimulation> simulations = new ArrayList<>();
    int count = Math.max(1, OUTPUTS_IN_ALL / outputs);
    for (int i = 0; i < count; i++) {
      simulations.add(new DirectorySimulation(EXECUTORS));
    }
    long heapBefore = usedHeap();
    double nanos = 0;
    double messageBytes = 0;
    double accountedBytes = 0;
    for (DirectorySimulation simulation : simulations) {
      DirectorySimulation.Published published = simulation.publish(outputs);
      nanos += published.nanos();
      messageBytes += published.messageBytes();
      accountedBytes += published.accountedBytes();
    }
    double heapBytes = usedHeap() - heapBefore;
    // Also keeps them from being collected before their heap was measured.
    double all = (double) outputs * simulations.size();
    return new Cost(
        outputs, nanos / all, messageBytes / all, accountedBytes / all, heapBytes / all);
  }

  /** What is left after collections. */
  private static long usedHeap() {
    for (int i = 0; i < COLLECTIONS; i++) {
      System.gc();
    }
    return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
  }
}
