package io.rdmashuffle.bench;

import java.io.Serializable;
import java.util.Map;
import org.apache.spark.SparkEnv;

/** Runs in the reading executor: the same blocks through both clients, A B C B A. */
final class FetchTask implements Serializable {
  private static final long serialVersionUID = 1;

  /** Sums over all rounds. */
  record Result(FetchSample netty, FetchSample plugin, FetchSample copy) implements Serializable {
    double plainCopyRatio() {
      return plugin.megabytesPerSecond() / copy.megabytesPerSecond();
    }

    double blocksPerSecondRatio() {
      return plugin.blocksPerSecond() / netty.blocksPerSecond();
    }

    double serverCpuRatio() {
      return plugin.serverCpuPerGigabyte() / netty.serverCpuPerGigabyte();
    }
  }

  /** Measurements of a round, and those before the first. */
  static final int RUNS_PER_ROUND = 5;

  static final int WARM_UPS = 3;

  private static final double WARM_UP_SECONDS = 2;

  private final BlockSet blocks;
  private final long serverPid;
  private final int rounds;
  private final double seconds;

  FetchTask(BlockSet blocks, long serverPid, int rounds, double seconds) {
    this.blocks = blocks;
    this.serverPid = serverPid;
    this.rounds = rounds;
    this.seconds = seconds;
  }

  Result run() throws InterruptedException {
    FetchLoop netty = new FetchLoop(SparkEnv.get().blockManager().blockStoreClient(), blocks);
    FetchLoop plugin = new FetchLoop(ReaderCosts.runtime().client(), blocks);
    assertSame(netty.checksums(), plugin.checksums());
    double warmUp = Math.min(WARM_UP_SECONDS, seconds);
    netty.run(warmUp, serverPid);
    plugin.run(warmUp, serverPid);
    PlainCopy copy = new PlainCopy();
    copy.run(warmUp);
    FetchSample nettySum = FetchSample.NONE;
    FetchSample pluginSum = FetchSample.NONE;
    FetchSample copySum = FetchSample.NONE;
    for (int round = 0; round < rounds; round++) {
      nettySum = nettySum.plus(netty.run(seconds, serverPid));
      pluginSum = pluginSum.plus(plugin.run(seconds, serverPid));
      copySum = copySum.plus(copy.run(seconds));
      pluginSum = pluginSum.plus(plugin.run(seconds, serverPid));
      nettySum = nettySum.plus(netty.run(seconds, serverPid));
    }
    return new Result(nettySum, pluginSum, copySum);
  }

  private static void assertSame(Map<String, Long> netty, Map<String, Long> plugin) {
    if (!netty.equals(plugin)) {
      throw new IllegalStateException("the two clients fetched different bytes");
    }
  }
}
