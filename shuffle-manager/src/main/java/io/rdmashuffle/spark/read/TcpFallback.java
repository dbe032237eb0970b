package io.rdmashuffle.spark.read;

import io.rdmashuffle.spark.FallbackReason;
import io.rdmashuffle.spark.ReadAccounting;
import io.rdmashuffle.spark.ReadAccounting.Way;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Fetches through Spark's own client whatever cannot be read one-sided, counts the reasons, and
 * logs each reason once per peer. Safe for use by several threads.
 */
final class TcpFallback {
  private static final Logger LOG = LoggerFactory.getLogger(TcpFallback.class);

  /** Peers come and go; past this many remembered pairs, reasons may be logged again. */
  private static final int MAX_LOGGED = 10_000;

  private final BlockFetcher client;
  private final ReadAccounting accounting;
  private final Executor executor;
  private final Set<String> logged = ConcurrentHashMap.newKeySet();

  /**
   * @param client Spark's own client; may block while it connects
   * @param executor runs fetches that start on a thread that must not block
   */
  TcpFallback(BlockFetcher client, ReadAccounting accounting, Executor executor) {
    this.client = client;
    this.accounting = accounting;
    this.executor = executor;
  }

  /** Fetches on the calling thread, which may wait for a TCP connection. */
  void fetch(BlockSource source, String[] names, FallbackReason reason, String detail) {
    onFallback(source, names.length, reason, detail);
    fetchForeign(source, names);
  }

  /** Fetches what is not ours to read one-sided; only its bytes are counted. */
  void fetchForeign(BlockSource source, String[] names) {
    client.fetchBlocks(
        source.host(),
        source.port(),
        source.executorId(),
        names,
        new CountingListener(source.listener()),
        source.files());
  }

  /** Fetches on a thread of its own, for callers that must not block. */
  void fetchLater(BlockSource source, List<String> names, FallbackReason reason, String detail) {
    String[] array = names.toArray(new String[0]);
    try {
      executor.execute(() -> fetchOrFail(source, array, reason, detail));
    } catch (RejectedExecutionException | OutOfMemoryError e) { // stopped, or no thread to be had
      fail(source, array, e);
    }
  }

  private void fetchOrFail(
      BlockSource source, String[] names, FallbackReason reason, String detail) {
    try {
      fetch(source, names, reason, detail);
    } catch (RuntimeException | Error e) {
      fail(source, names, e);
    }
  }

  private static void fail(BlockSource source, String[] names, Throwable failure) {
    for (String name : names) {
      source.listener().onBlockFetchFailure(name, failure);
    }
  }

  private void onFallback(
      BlockSource source, int blockCount, FallbackReason reason, String detail) {
    accounting.onFallback(reason, blockCount);
    boolean isFirst =
        logged.size() < MAX_LOGGED && logged.add(reason.name() + '@' + source.executorId());
    if (!isFirst) {
      return;
    }
    String line = "blocks of {} go by TCP: {} ({}); {}";
    if (isExpected(reason)) {
      LOG.info(line, source, reason, detail, reason.remedy());
    } else {
      LOG.warn(line, source, reason, detail, reason.remedy());
    }
  }

  /** Consequences of the settings, and of tasks that were killed, need nobody's attention. */
  private static boolean isExpected(FallbackReason reason) {
    return switch (reason) {
      case DISABLED, INTERRUPTED, FILE_TIER, CLEARTEXT_FORBIDDEN -> true;
      default -> false;
    };
  }

  /** Counts what TCP delivers before Spark gets it. */
  private final class CountingListener implements BlockFetchingListener {
    private final BlockFetchingListener listener;

    CountingListener(BlockFetchingListener listener) {
      this.listener = listener;
    }

    @Override
    public void onBlockFetchSuccess(String blockId, ManagedBuffer data) {
      accounting.onBlockRead(Way.TCP, data.size());
      listener.onBlockFetchSuccess(blockId, data);
    }

    @Override
    public void onBlockFetchFailure(String blockId, Throwable failure) {
      listener.onBlockFetchFailure(blockId, failure);
    }
  }
}
