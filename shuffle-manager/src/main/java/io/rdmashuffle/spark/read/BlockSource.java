package io.rdmashuffle.spark.read;

import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.DownloadFileManager;

/**
 * Whose blocks a request wants, and who is told of them.
 *
 * @param host where Spark's TCP service for the blocks listens
 * @param port of that service, which may be an external shuffle service
 * @param executorId the executor that wrote the blocks
 * @param listener told once of each block
 * @param files makes the files that Spark wants the blocks in, for their size; null when it wants
 *     them in memory
 */
record BlockSource(
    String host,
    int port,
    String executorId,
    BlockFetchingListener listener,
    DownloadFileManager files) {
  /** The same with someone else to tell. */
  BlockSource withListener(BlockFetchingListener other) {
    return new BlockSource(host, port, executorId, other, files);
  }

  @Override
  public String toString() {
    return "executor " + executorId + " on " + host;
  }
}
