package io.rdmashuffle.spark.read;

import com.codahale.metrics.MetricSet;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockPushingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.network.shuffle.MergeFinalizerListener;
import org.apache.spark.network.shuffle.MergedBlocksMetaListener;
import org.apache.spark.network.shuffle.checksum.Cause;

/**
 * The client that Spark's fetch iterator gets from us: reads shuffle blocks one-sided where it can,
 * and leaves everything else to Spark's own client. One per executor, used by all its tasks.
 */
public final class OneSidedBlockStoreClient extends BlockStoreClient {
  private final BlockStoreClient spark;
  private final ReadServices services;
  private final TcpFallback tcp;
  private final PeerTable peers;

  /**
   * @param spark Spark's own client; not closed by this one
   * @param fallback fetches shuffle blocks that are not read one-sided
   * @param fallbackExecutor runs TCP fetches that start on a thread that must not block
   */
  public OneSidedBlockStoreClient(
      BlockStoreClient spark,
      ReadServices services,
      BlockFetcher fallback,
      Executor fallbackExecutor) {
    this.spark = spark;
    this.services = services;
    tcp = new TcpFallback(fallback, services.accounting(), fallbackExecutor);
    peers = new PeerTable(services, System::nanoTime);
  }

  @Override
  public void fetchBlocks(
      String host,
      int port,
      String executorId,
      String[] blockIds,
      BlockFetchingListener listener,
      DownloadFileManager downloadFileManager) {
    RequestedBlocks blocks = RequestedBlocks.parse(blockIds);
    BlockSource source = new BlockSource(host, port, executorId, listener, downloadFileManager);
    if (blocks == null) {
      tcp.fetchForeign(source, blockIds);
    } else if (services.transports().isEmpty()) {
      PeerConnector.NoLinkException why = services.whyNoTransport();
      tcp.fetch(source, blockIds, why.reason(), why.getMessage());
    } else {
      new FetchRequest(services, tcp, peers, source, blocks).start();
    }
  }

  /**
   * Lets go of executors that nobody has read from for some minutes, whose memory would else stay
   * mapped here, be they gone or not. To be called from time to time.
   */
  public void dropIdlePeers() {
    peers.dropIdle();
  }

  /** Closes the connections to peers; reads in flight go to TCP. Spark's client stays open. */
  @Override
  public void close() {
    peers.close();
  }

  @Override
  public Cause diagnoseCorruption(
      String host,
      int port,
      String executorId,
      int shuffleId,
      long mapId,
      int reduceId,
      long checksum,
      String algorithm) {
    return spark.diagnoseCorruption(
        host, port, executorId, shuffleId, mapId, reduceId, checksum, algorithm);
  }

  @Override
  public MetricSet shuffleMetrics() {
    return spark.shuffleMetrics();
  }

  @Override
  public void setAppAttemptId(String appAttemptId) {
    spark.setAppAttemptId(appAttemptId);
  }

  @Override
  public String getAppAttemptId() {
    return spark.getAppAttemptId();
  }

  @Override
  public void getHostLocalDirs(
      String host,
      int port,
      String[] executorIds,
      CompletableFuture<Map<String, String[]>> hostLocalDirs) {
    spark.getHostLocalDirs(host, port, executorIds, hostLocalDirs);
  }

  @Override
  public void pushBlocks(
      String host,
      int port,
      String[] blockIds,
      ManagedBuffer[] buffers,
      BlockPushingListener listener) {
    spark.pushBlocks(host, port, blockIds, buffers, listener);
  }

  @Override
  public void finalizeShuffleMerge(
      String host, int port, int shuffleId, int shuffleMergeId, MergeFinalizerListener listener) {
    spark.finalizeShuffleMerge(host, port, shuffleId, shuffleMergeId, listener);
  }

  @Override
  public void getMergedBlockMeta(
      String host,
      int port,
      int shuffleId,
      int shuffleMergeId,
      int reduceId,
      MergedBlocksMetaListener listener) {
    spark.getMergedBlockMeta(host, port, shuffleId, shuffleMergeId, reduceId, listener);
  }

  @Override
  public boolean removeShuffleMerge(String host, int port, int shuffleId, int shuffleMergeId) {
    return spark.removeShuffleMerge(host, port, shuffleId, shuffleMergeId);
  }
}
