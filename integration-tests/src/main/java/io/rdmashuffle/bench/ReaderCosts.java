package io.rdmashuffle.bench;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import io.rdmashuffle.RdmaShuffleManager;
import io.rdmashuffle.harness.ProcessCounts;
import io.rdmashuffle.spark.ExecutorRuntime;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import org.apache.spark.SparkEnv;

/** What reading has cost since the object was made, in the executor where it is made. */
final class ReaderCosts {
  private final long serverPid;
  private final long beganNs = System.nanoTime();
  private final double readerCpu = readerCpu();
  private final double serverCpu;
  private final long copiedBytes = runtime().transportedBytes();
  private final long heapBytes = allocatedBytes();

  ReaderCosts(long serverPid) {
    this.serverPid = serverPid;
    serverCpu = ProcessCounts.cpuSeconds(serverPid);
  }

  double seconds() {
    return (System.nanoTime() - beganNs) / 1e9;
  }

  FetchSample sample(long blocks, long bytes) {
    return new FetchSample(
        seconds(),
        blocks,
        bytes,
        readerCpu() - readerCpu,
        ProcessCounts.cpuSeconds(serverPid) - serverCpu,
        runtime().transportedBytes() - copiedBytes,
        allocatedBytes() - heapBytes);
  }

  /** The plugin in this executor. */
  static ExecutorRuntime runtime() {
    if (SparkEnv.get().shuffleManager() instanceof RdmaShuffleManager manager) {
      return manager.runtime();
    }
    throw new IllegalStateException(
        "expected the plugin, found " + SparkEnv.get().shuffleManager());
  }

  private static double readerCpu() {
    return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime()
        / 1e9;
  }

  private static long allocatedBytes() {
    ThreadMXBean threads = ManagementFactory.getPlatformMXBean(ThreadMXBean.class);
    return Arrays.stream(threads.getThreadAllocatedBytes(threads.getAllThreadIds()))
        .filter(bytes -> bytes > 0)
        .sum();
  }
}
