package io.rdmashuffle.spark.tier;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.transport.Deadline;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class WriteBehindTest {
  private static final long LONG_NS = TimeUnit.SECONDS.toNanos(30);
  private static final Duration LONG = Duration.ofNanos(LONG_NS);

  private final CountDownLatch gate = new CountDownLatch(1);

  private void awaitGate() {
    try {
      assertTrue(gate.await(30, TimeUnit.SECONDS), "the gate stays shut");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void worksInOrderOnOneThreadAndDoesAllBeforeItCloses() {
    WriteBehind behind = new WriteBehind("rdma-test", 1000, LONG_NS);
    List<Integer> done = Collections.synchronizedList(new ArrayList<>());
    List<Integer> expected = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      int number = i;
      expected.add(number);
      assertTrue(behind.offer(300, () -> done.add(number)));
    }
    assertEquals(0, behind.close(Deadline.after(LONG)));
    assertEquals(expected, done);
    assertEquals(0, behind.pendingBytes());
  }

  @Test
  void refusesWhatExceedsTheBoundOrFindsNoRoomInTime() {
    WriteBehind behind = new WriteBehind("rdma-test", 1000, 1);
    assertFalse(behind.offer(1001, () -> {}));
    assertTrue(behind.offer(600, this::awaitGate));
    assertTrue(behind.offer(400, () -> {}));
    assertFalse(behind.offer(1, () -> {}), "what is being worked on takes room too");
    gate.countDown();
    assertEquals(0, behind.close(Deadline.after(LONG)));
    assertFalse(behind.offer(1, () -> {}), "closed");
  }

  @Test
  void extraWorkOfAnySizeIsTakenWhereThereIsNoOther() {
    WriteBehind behind = new WriteBehind("rdma-test", 1000, LONG_NS);
    assertTrue(behind.offerNow(5000, this::awaitGate));
    assertFalse(behind.offerNow(1, () -> {}));
    gate.countDown();
    assertEquals(0, behind.close(Deadline.after(LONG)));
    assertFalse(behind.offerNow(1, () -> {}), "closed");
  }

  @Test
  void waitsForRoomThatComesInTime() throws Exception {
    WriteBehind behind = new WriteBehind("rdma-test", 1000, LONG_NS);
    assertTrue(behind.offer(1000, this::awaitGate));
    CompletableFuture<Boolean> second =
        CompletableFuture.supplyAsync(() -> behind.offer(1000, () -> {}));
    gate.countDown();
    assertTrue(second.get(30, TimeUnit.SECONDS));
    assertEquals(0, behind.close(Deadline.after(LONG)));
  }

  @Test
  void anInterruptedThreadDoesNotWaitAndStaysInterrupted() {
    WriteBehind behind = new WriteBehind("rdma-test", 1000, LONG_NS);
    assertTrue(behind.offer(1000, this::awaitGate));
    Thread.currentThread().interrupt();
    assertFalse(behind.offer(1, () -> {}));
    assertTrue(Thread.interrupted());
    gate.countDown();
    assertEquals(0, behind.close(Deadline.after(LONG)));
  }

  @Test
  void tellsHowMuchItDropsWhenTheDeadlinePasses() {
    WriteBehind behind = new WriteBehind("rdma-test", 1000, LONG_NS);
    List<String> done = Collections.synchronizedList(new ArrayList<>());
    assertTrue(behind.offer(100, this::awaitGate));
    assertTrue(behind.offer(200, () -> done.add("too late")));
    assertEquals(300, behind.close(Deadline.after(Duration.ZERO)));
    gate.countDown();
    assertEquals(List.of(), done);
  }

  @Test
  void workThatFailsDoesNotEndTheThread() {
    WriteBehind behind = new WriteBehind("rdma-test", 1000, LONG_NS);
    List<String> done = Collections.synchronizedList(new ArrayList<>());
    assertTrue(
        behind.offer(
            1,
            () -> {
              throw new IllegalStateException("a bug");
            }));
    assertTrue(behind.offer(1, () -> done.add("next")));
    assertEquals(0, behind.close(Deadline.after(LONG)));
    assertEquals(List.of("next"), done);
  }
}
