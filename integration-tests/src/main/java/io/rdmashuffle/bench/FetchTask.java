package io.rdmashuffle.bench;

import io.rdmashuffle.RdmaShuffleManager;
import java.io.Serializable;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.spark.SparkEnv;
import org.apache.spark.network.shuffle.BlockStoreClient;

/** Runs in the reading executor: the same blocks through both clients, A B B A. */
final class FetchTask implements Serializable {
  private static final long serialVersionUID = 1;
  private static final double WARM_UP_SECONDS = 2;
  private static final int COPY_BYTES = 1 << 20;
  private static final int COPY_AREA = 64 << 20;

  private final BlockSet blocks;
  private final String readerId;
  private final long serverPid;
  private final int rounds;
  private final double seconds;

  FetchTask(BlockSet blocks, String readerId, long serverPid, int rounds, double seconds) {
    this.blocks = blocks;
    this.readerId = readerId;
    this.serverPid = serverPid;
    this.rounds = rounds;
    this.seconds = seconds;
  }

  /** The sums of all rounds, Netty first; nothing in an executor that is not the reader. */
  List<FetchSample> run() throws InterruptedException {
    if (!SparkEnv.get().executorId().equals(readerId)) {
      return List.of();
    }
    FetchLoop netty = new FetchLoop(SparkEnv.get().blockManager().blockStoreClient(), blocks);
    FetchLoop plugin = new FetchLoop(pluginClient(), blocks);
    assertSame(netty.checksums(), plugin.checksums());
    netty.run(WARM_UP_SECONDS, serverPid);
    plugin.run(WARM_UP_SECONDS, serverPid);
    FetchSample nettySum = FetchSample.NONE;
    FetchSample pluginSum = FetchSample.NONE;
    for (int round = 0; round < rounds; round++) {
      nettySum = nettySum.plus(netty.run(seconds, serverPid));
      pluginSum = pluginSum.plus(plugin.run(seconds, serverPid));
      pluginSum = pluginSum.plus(plugin.run(seconds, serverPid));
      nettySum = nettySum.plus(netty.run(seconds, serverPid));
    }
    return new ArrayList<>(List.of(nettySum, pluginSum, plainCopy()));
  }

  /** What this machine's memory gives to one thread, for scale: copies of 1 MiB. */
  private FetchSample plainCopy() {
    ByteBuffer from = ByteBuffer.allocateDirect(COPY_AREA);
    ByteBuffer to = ByteBuffer.allocateDirect(COPY_AREA);
    long copies = 0;
    long start = System.nanoTime();
    double elapsed;
    do {
      for (int at = 0; at < COPY_AREA; at += COPY_BYTES) {
        to.put(at, from, at, COPY_BYTES);
        copies++;
      }
      elapsed = (System.nanoTime() - start) / 1e9;
    } while (elapsed < seconds);
    return new FetchSample(elapsed, copies, copies * COPY_BYTES, elapsed, 0);
  }

  private static void assertSame(Map<String, Long> netty, Map<String, Long> plugin) {
    if (!netty.equals(plugin)) {
      throw new IllegalStateException("the two clients fetched different bytes");
    }
  }

  private static BlockStoreClient pluginClient() {
    if (SparkEnv.get().shuffleManager() instanceof RdmaShuffleManager manager) {
      return manager.runtime().client();
    }
    throw new IllegalStateException(
        "expected the plugin, found " + SparkEnv.get().shuffleManager());
  }
}
