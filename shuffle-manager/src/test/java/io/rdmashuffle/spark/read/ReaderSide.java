package io.rdmashuffle.spark.read;

import io.rdmashuffle.conf.RdmaShuffleConf;
import io.rdmashuffle.spark.FallbackReason;
import io.rdmashuffle.spark.ReadAccounting;
import io.rdmashuffle.spark.directory.DirectoryClient;
import io.rdmashuffle.store.IndexBlockCache;
import io.rdmashuffle.store.ReceivePool;
import io.rdmashuffle.store.SlabPool;
import io.rdmashuffle.transport.Access;
import io.rdmashuffle.transport.SlabFactory;
import io.rdmashuffle.transport.Transport;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.apache.spark.network.shuffle.BlockStoreClient;

/** What an executor reads with, put together as the plugin does. Closed as a whole. */
final class ReaderSide implements AutoCloseable {
  static final int SLAB_LENGTH = 1 << 20;

  final ReadAccounting accounting = new ReadAccounting();
  final IndexBlockCache indexCache = new IndexBlockCache(1 << 20);
  final ExecutorService continuations = Executors.newSingleThreadExecutor(daemons("test-fetch"));
  final ReceivePool receivePool;
  final ReadServices services;
  final OneSidedBlockStoreClient client;

  private final Transport transport;
  private final DirectoryClient directory;
  private final ExecutorService fallbacks = Executors.newSingleThreadExecutor(daemons("test-tcp"));
  private final ExecutorService fileReads = Executors.newSingleThreadExecutor(daemons("test-file"));
  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(daemons("test-timer"));

  /**
   * @param directory closed with the rest
   * @param transport closed with the rest
   * @param receiveSlabs how many slabs of receive memory there are
   */
  ReaderSide(
      String applicationId,
      DirectoryClient directory,
      BlockStoreClient tcp,
      Transport transport,
      SlabFactory slabs,
      int receiveSlabs,
      RdmaShuffleConf conf) {
    this.transport = transport;
    this.directory = directory;
    receivePool =
        new ReceivePool(
            pool("receive", slabs, transport, Access.LOCAL_WRITE, receiveSlabs * SLAB_LENGTH));
    services =
        new ReadServices(
            applicationId,
            List.of(transport),
            FallbackReason.DISABLED,
            "no transport",
            directory,
            receivePool,
            indexCache,
            accounting,
            continuations,
            new FileReads(fileReads, DownloadFiles.TRANSPORT_CONF),
            conf.shuffle(),
            conf.transport());
    client = new OneSidedBlockStoreClient(tcp, services, tcp::fetchBlocks, fallbacks);
    var unused =
        timer.scheduleWithFixedDelay(
            () -> receivePool.expireWaiters(System.nanoTime()), 5, 5, TimeUnit.MILLISECONDS);
  }

  /** A pool that uses memory again at once: only the order of reads protects its readers. */
  static SlabPool pool(
      String name, SlabFactory slabs, Transport transport, Access access, int budget) {
    return new SlabPool(
        name, slabs, List.of(transport), access, budget, SLAB_LENGTH, Duration.ZERO);
  }

  /** Settings as pairs of the key behind {@code spark.shuffle.rdma.} and the value. */
  static RdmaShuffleConf conf(String... settings) {
    Map<String, String> properties = new HashMap<>();
    for (int i = 0; i < settings.length; i += 2) {
      properties.put("spark.shuffle.rdma." + settings[i], settings[i + 1]);
    }
    return RdmaShuffleConf.from(properties);
  }

  /** From now on nothing is read into files any more. */
  void refuseFileReads() {
    fileReads.shutdownNow();
  }

  private static ThreadFactory daemons(String name) {
    return task -> {
      Thread thread = new Thread(task, name);
      thread.setDaemon(true);
      return thread;
    };
  }

  @Override
  public void close() {
    client.close();
    timer.shutdownNow();
    continuations.shutdownNow();
    fallbacks.shutdownNow();
    fileReads.shutdownNow();
    directory.close();
    receivePool.close();
    transport.close();
  }
}
