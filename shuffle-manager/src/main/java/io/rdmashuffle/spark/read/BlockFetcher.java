package io.rdmashuffle.spark.read;

import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.DownloadFileManager;

/** A way to fetch blocks over TCP, under the contract of Spark's own clients. */
@FunctionalInterface
public interface BlockFetcher {
  /**
   * Fetches blocks; may wait for a connection.
   *
   * @param listener told once of each block
   * @param files makes files for blocks that shall not be in memory, null for none
   */
  void fetchBlocks(
      String host,
      int port,
      String executorId,
      String[] blockIds,
      BlockFetchingListener listener,
      DownloadFileManager files);
}
