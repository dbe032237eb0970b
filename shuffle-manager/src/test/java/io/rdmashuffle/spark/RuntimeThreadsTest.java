package io.rdmashuffle.spark;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.store.ReceivePool;
import io.rdmashuffle.store.SlabPool;
import io.rdmashuffle.transport.Access;
import io.rdmashuffle.transport.AnonymousSlabFactory;
import io.rdmashuffle.transport.Deadline;
import io.rdmashuffle.transport.PeerIdentity;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

final class RuntimeThreadsTest {
  private static final int SLAB = 1 << 20;

  private final LogCapture log = new LogCapture(RuntimeThreads.class);

  /** Else one full heap in the wrong place would end all deadlines of an executor. */
  @Test
  void whatTheTimerDoesIsDoneAgainAfterItFailed() throws Exception {
    CountDownLatch calls = new CountDownLatch(3);
    PeerIdentity self = new PeerIdentity("app", "1", new byte[PeerIdentity.TOKEN_LENGTH]);
    try (ReceivePool pool =
        new ReceivePool(
            new SlabPool(
                "receive",
                new AnonymousSlabFactory(self, "of the test"),
                List.of(),
                Access.LOCAL_WRITE,
                SLAB,
                SLAB,
                Duration.ZERO))) {
      RuntimeThreads threads = new RuntimeThreads(pool);
      threads.every(
          Duration.ofMillis(1),
          () -> {
            calls.countDown();
            throw new OutOfMemoryError("of the test");
          });
      assertTrue(calls.await(30, TimeUnit.SECONDS));
      threads.close(Deadline.after(Duration.ofSeconds(30)));
      assertTrue(log.lines().get(0).contains("done again in 1 ms"), log.lines().get(0));
    } finally {
      log.close();
    }
  }
}
