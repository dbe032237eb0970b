package io.rdmashuffle.spark.read;

import io.netty.buffer.Unpooled;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import org.apache.spark.network.buffer.NettyManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.network.shuffle.DownloadFileManager;

/** Stands for Spark's client: has every block, delivers on the calling thread. */
final class FakeTcpClient extends BlockStoreClient {
  final List<String> fetched = new CopyOnWriteArrayList<>();
  final List<DownloadFileManager> files = new CopyOnWriteArrayList<>();
  private final Function<String, byte[]> content;
  volatile RuntimeException failure;
  volatile boolean isCorrupt;

  FakeTcpClient(Function<String, byte[]> content) {
    this.content = content;
  }

  @Override
  public void fetchBlocks(
      String host,
      int port,
      String executorId,
      String[] blockIds,
      BlockFetchingListener listener,
      DownloadFileManager downloadFileManager) {
    if (failure != null) {
      throw failure;
    }
    if (downloadFileManager != null) {
      files.add(downloadFileManager);
    }
    for (String blockId : blockIds) {
      fetched.add(blockId);
      byte[] bytes = content.apply(blockId).clone();
      if (isCorrupt) {
        bytes[bytes.length / 2] ^= 1;
      }
      listener.onBlockFetchSuccess(blockId, new NettyManagedBuffer(Unpooled.wrappedBuffer(bytes)));
    }
  }

  @Override
  public void close() {}
}
