package io.rdmashuffle.bench;

import java.io.Serializable;
import java.util.List;

/**
 * Runs in the reading executor: fetches all blocks of some shuffles of equal size, each for the
 * first time, and then again and again.
 */
final class ScaleTask implements Serializable {
  private static final long serialVersionUID = 1;

  /**
   * What that took.
   *
   * @param first sums over the shuffles: the driver is asked where blocks lie, and index blocks are
   *     read
   * @param again when all of that is known
   */
  record Result(FetchSample first, FetchSample again) implements Serializable {}

  private final List<Integer> shuffleIds;
  private final int partitions;
  private final String serverId;
  private final long serverPid;
  private final double seconds;

  ScaleTask(
      List<Integer> shuffleIds, int partitions, String serverId, long serverPid, double seconds) {
    this.shuffleIds = List.copyOf(shuffleIds);
    this.partitions = partitions;
    this.serverId = serverId;
    this.serverPid = serverPid;
    this.seconds = seconds;
  }

  Result run() throws InterruptedException {
    FetchSample first = FetchSample.NONE;
    FetchSample again = FetchSample.NONE;
    for (int shuffleId : shuffleIds) {
      FetchLoop loop =
          new FetchLoop(
              ReaderCosts.runtime().client(), FetchShape.blocksIn(serverId, shuffleId, partitions));
      first = first.plus(loop.run(0, serverPid));
      again = again.plus(loop.run(seconds / shuffleIds.size(), serverPid));
    }
    return new Result(first, again);
  }
}
