package io.rdmashuffle.spark.read;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;

/**
 * Nanoseconds and heap bytes per small block, from {@code fetchBlocks} to the listener, over shared
 * memory with warm caches. Run by hand: {@code main [blockBytes [mapOutputs [seconds]]]}.
 */
final class FetchLoopBench {
  private static final int WARM_UP_ROUNDS = 3;
  private static final int ROUNDS = 5;

  private FetchLoopBench() {}

  public static void main(String[] args) throws Exception {
    int blockBytes = args.length > 0 ? Integer.parseInt(args[0]) : 1024;
    int maps = args.length > 1 ? Integer.parseInt(args[1]) : 200;
    double seconds = args.length > 2 ? Double.parseDouble(args[2]) : 2;
    try (TwoExecutors pair = new TwoExecutors()) {
      String[] names = new String[maps];
      for (int map = 0; map < maps; map++) {
        pair.write(1, map, blockBytes, blockBytes);
        names[map] = "shuffle_1_" + map + "_1";
      }
      for (int round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
        String result = round(pair, names, (long) (seconds * 1e9));
        System.out.println((round < 0 ? "warm-up " : "") + result);
      }
      System.out.println(pair.accounting.snapshot());
    }
  }

  private static String round(TwoExecutors pair, String[] names, long forNs) {
    Sink sink = new Sink();
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long bytesBefore = threads.getCurrentThreadAllocatedBytes();
    long startNs = System.nanoTime();
    long cpuNs = threads.getCurrentThreadCpuTime();
    while (System.nanoTime() - startNs < forNs) {
      pair.client.fetchBlocks("localhost", 7337, TwoExecutors.OWNER, names, sink, null);
    }
    cpuNs = threads.getCurrentThreadCpuTime() - cpuNs;
    long bytes = threads.getCurrentThreadAllocatedBytes() - bytesBefore;
    return "%d blocks, %d ns CPU and %d heap bytes a block"
        .formatted(sink.blocks, cpuNs / sink.blocks, bytes / sink.blocks);
  }

  private static final class Sink implements BlockFetchingListener {
    long blocks;

    @Override
    public void onBlockFetchSuccess(String blockId, ManagedBuffer data) {
      blocks++;
    }

    @Override
    public void onBlockFetchFailure(String blockId, Throwable failure) {
      throw new AssertionError(blockId, failure);
    }
  }
}
