package io.rdmashuffle.spark.read;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.rdmashuffle.spark.FallbackReason;
import io.rdmashuffle.spark.LogCapture;
import io.rdmashuffle.spark.ReadAccounting;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class TcpFallbackTest {
  private final ReadAccounting accounting = new ReadAccounting();
  private final FakeTcpClient client = new FakeTcpClient(name -> new byte[10]);
  private final LogCapture log = new LogCapture(TcpFallback.class);

  @AfterEach
  void stopListening() {
    log.close();
  }

  private TcpFallback fallback(Executor executor) {
    return new TcpFallback(client::fetchBlocks, accounting, executor);
  }

  private static BlockSource source(String executorId, Fetch fetch) {
    return new BlockSource("host-" + executorId, 1, executorId, fetch, null);
  }

  @Test
  void logsEachReasonOncePerPeerAndCountsAll() {
    TcpFallback fallback = fallback(Runnable::run);
    List<String> names = List.of("a", "b");
    for (String executor : new String[] {"1", "1", "2", "1"}) {
      Fetch fetch = new Fetch(new String[] {"a", "b"}, false);
      fallback.fetchLater(source(executor, fetch), names, FallbackReason.READ_FAILED, "why");
      fallback.fetchLater(source(executor, fetch), names, FallbackReason.FILE_TIER, "files");
    }
    assertEquals(
        List.of(
            "WARN blocks of executor 1 on host-1 go by TCP: READ_FAILED (why); "
                + FallbackReason.READ_FAILED.remedy(),
            "INFO blocks of executor 1 on host-1 go by TCP: FILE_TIER (files); "
                + FallbackReason.FILE_TIER.remedy(),
            "WARN blocks of executor 2 on host-2 go by TCP: READ_FAILED (why); "
                + FallbackReason.READ_FAILED.remedy(),
            "INFO blocks of executor 2 on host-2 go by TCP: FILE_TIER (files); "
                + FallbackReason.FILE_TIER.remedy()),
        log.lines());
    assertEquals(
        Map.of(
            "bytes.tcp", 160L,
            "blocks.tcp", 16L,
            "fallbacks.READ_FAILED", 8L,
            "fallbacks.FILE_TIER", 8L),
        accounting.snapshot());
  }

  @Test
  void anExecutorThatIsShutDownFailsTheBlocks() {
    TcpFallback fallback =
        fallback(
            task -> {
              throw new RejectedExecutionException("of the test");
            });
    Fetch fetch = new Fetch(new String[] {"a", "b"}, false);
    fallback.fetchLater(source("1", fetch), List.of("a", "b"), FallbackReason.STALE, "why");
    fetch.assertAllFailed();
  }

  /** As a container does that limits the number of its threads. */
  @Test
  void anExecutorThatGetsNoThreadFailsTheBlocks() {
    TcpFallback fallback =
        fallback(
            task -> {
              throw new OutOfMemoryError("unable to create native thread");
            });
    Fetch fetch = new Fetch(new String[] {"a", "b"}, false);
    fallback.fetchLater(source("1", fetch), List.of("a", "b"), FallbackReason.STALE, "why");
    fetch.assertAllFailed();
  }

  @Test
  void aClientThatThrowsFailsTheBlocks() {
    client.failure = new IllegalStateException("of the test");
    Fetch fetch = new Fetch(new String[] {"a", "b"}, false);
    fallback(Runnable::run)
        .fetchLater(source("1", fetch), List.of("a", "b"), FallbackReason.STALE, "why");
    fetch.assertAllFailed();
  }
}
