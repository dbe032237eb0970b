package io.rdmashuffle.spark.read;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.ToIntFunction;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks an external shuffle service first, which knows files alone, and for what it has not the
 * executor that wrote it: files are written behind, so for a moment only the executor has a map
 * output. Used by several threads.
 */
public final class ServiceThenOwner implements BlockFetcher {
  private static final Logger LOG = LoggerFactory.getLogger(ServiceThenOwner.class);

  private final BlockFetcher service;
  private final BlockFetcher owner;
  private final ToIntFunction<String> ownerPort;
  private final Executor executor;

  /**
   * @param service Spark's client for the external shuffle service
   * @param owner Spark's client for executors
   * @param ownerPort the port of an executor's own service by its id, 0 when the executor is gone;
   *     may wait, within a deadline
   * @param executor runs what must not be done on a thread of Netty's
   */
  public ServiceThenOwner(
      BlockFetcher service,
      BlockFetcher owner,
      ToIntFunction<String> ownerPort,
      Executor executor) {
    this.service = service;
    this.owner = owner;
    this.ownerPort = ownerPort;
    this.executor = executor;
  }

  @Override
  public void fetchBlocks(
      String host,
      int port,
      String executorId,
      String[] blockIds,
      BlockFetchingListener listener,
      DownloadFileManager files) {
    FirstAnswer first = new FirstAnswer(host, executorId, blockIds.length, listener, files);
    service.fetchBlocks(host, port, executorId, blockIds, first, files);
  }

  /** Passes on what the service has, and gathers what it has not. */
  private final class FirstAnswer implements BlockFetchingListener {
    private record Missing(String blockId, Throwable failure) {}

    private final String host;
    private final String executorId;
    private final BlockFetchingListener listener;
    private final DownloadFileManager files;

    // Guarded by this.
    private final List<Missing> missing = new ArrayList<>();
    private int outstanding;

    FirstAnswer(
        String host,
        String executorId,
        int blockCount,
        BlockFetchingListener listener,
        DownloadFileManager files) {
      this.host = host;
      this.executorId = executorId;
      outstanding = blockCount;
      this.listener = listener;
      this.files = files;
    }

    @Override
    public void onBlockFetchSuccess(String blockId, ManagedBuffer data) {
      listener.onBlockFetchSuccess(blockId, data);
      onAnswer(null);
    }

    @Override
    public void onBlockFetchFailure(String blockId, Throwable failure) {
      onAnswer(new Missing(blockId, failure));
    }

    private void onAnswer(Missing block) {
      synchronized (this) {
        if (block != null) {
          missing.add(block);
        }
        outstanding--;
        if (outstanding > 0 || missing.isEmpty()) {
          return;
        }
      }
      try {
        executor.execute(this::askOwner);
      } catch (RejectedExecutionException | OutOfMemoryError e) { // stopped, or no thread
        fail();
      }
    }

    private void askOwner() {
      try {
        int port = ownerPort.applyAsInt(executorId);
        if (port == 0) {
          fail();
          return;
        }
        LOG.debug(
            "the shuffle service on {} lacks {} blocks; asking executor {}",
            host,
            missing.size(),
            executorId);
        String[] blockIds = missing.stream().map(Missing::blockId).toArray(String[]::new);
        owner.fetchBlocks(host, port, executorId, blockIds, listener, files);
      } catch (RuntimeException | Error e) {
        LOG.debug("executor {} could not be asked", executorId, e);
        fail();
      }
    }

    /** With what the service said: the executor is gone, and so are blocks that no file holds. */
    private void fail() {
      missing.forEach(block -> listener.onBlockFetchFailure(block.blockId(), block.failure()));
    }
  }
}
