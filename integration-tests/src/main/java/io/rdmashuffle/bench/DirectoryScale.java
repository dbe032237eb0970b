package io.rdmashuffle.bench;

import io.rdmashuffle.spark.directory.DirectoryException;
import io.rdmashuffle.spark.directory.DirectorySimulation;
import java.util.ArrayList;
import java.util.List;

/** What a map output costs the driver, whether there are few of them or many. */
final class DirectoryScale {
  /** So many outputs are published for each size, in as many directories as that takes. */
  private static final int OUTPUTS_IN_ALL = 500_000;

  private static final int EXECUTORS = 10;
  private static final int WARM_UPS = 5;
  private static final int COLLECTIONS = 3;

  /**
   * Of one output.
   *
   * @param cpuNanos of the driver for its publication, in the median directory
   * @param messageBytes of its publication
   * @param accountedBytes of heap, by the directory's own books
   * @param heapBytes of heap, measured
   */
  record Cost(
      int outputs, double cpuNanos, double messageBytes, double accountedBytes, double heapBytes) {}

  private DirectoryScale() {}

  /** Lets the compiler see what is measured. */
  static void warmUp() throws DirectoryException {
    for (int i = 0; i < WARM_UPS; i++) {
      new DirectorySimulation(EXECUTORS).publish(OUTPUTS_IN_ALL / WARM_UPS);
    }
  }

  /** Measures publications to directories of that many outputs. */
  static Cost measure(int outputs) throws DirectoryException {
    List<DirectorySimulation> simulations = new ArrayList<>();
    int count = Math.max(1, OUTPUTS_IN_ALL / outputs);
    for (int i = 0; i < count; i++) {
      simulations.add(new DirectorySimulation(EXECUTORS));
    }
    long heapBefore = usedHeap();
    double[] cpuNanos = new double[count];
    double messageBytes = 0;
    double accountedBytes = 0;
    for (int i = 0; i < count; i++) {
      DirectorySimulation.Published published = simulations.get(i).publish(outputs);
      cpuNanos[i] = (double) published.cpuNanos() / outputs;
      messageBytes += published.messageBytes();
      accountedBytes += published.accountedBytes();
    }
    double heapBytes = usedHeap() - heapBefore;
    // Also keeps them from being collected before their heap was measured.
    double all = (double) outputs * simulations.size();
    return new Cost(
        outputs,
        Statistics.median(cpuNanos),
        messageBytes / all,
        accountedBytes / all,
        heapBytes / all);
  }

  /** What is left after collections. */
  private static long usedHeap() {
    for (int i = 0; i < COLLECTIONS; i++) {
      System.gc();
    }
    return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
  }
}
