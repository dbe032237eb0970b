package io.rdmashuffle.spark.directory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.spark.directory.DirectoryException.Reason;
import io.rdmashuffle.transport.Deadline;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

@Timeout(60)
class DirectoryClientTest {
  private static final Duration TTL = Duration.ofSeconds(30);

  private final Directory directory = new Directory(Samples.pagesOf(10));
  private final FakeChannel channel = new FakeChannel(directory);
  private final DirectoryClient client = client(Duration.ofSeconds(10), TTL, 1 << 20);

  private DirectoryClient client(Duration askTimeout, Duration ttl, long locationBytes) {
    return new DirectoryClient(
        channel, "9", new ClientSettings(askTimeout, ttl, locationBytes, 1_000));
  }

  @BeforeEach
  void someOutputs() throws Exception {
    directory.register(Samples.executor("1", 1));
    directory.register(Samples.executor("2", 1));
    directory.register(Samples.executor("9", 1));
    directory.registerShuffle(0);
  }

  @AfterEach
  void close() {
    client.close();
  }

  private void publish(long from, long to) throws DirectoryException {
    for (long id = from; id < to; id++) {
      directory.publish(id % 2 == 0 ? "2" : "1", Samples.output(0, id));
    }
  }

  private static Deadline ample() {
    return Deadline.after(Samples.AMPLE);
  }

  private static long[] ids(long from, long to) {
    return LongStream.range(from, to).toArray();
  }

  private static void assertFails(Reason reason, Executable executable) {
    assertEquals(reason, assertThrows(DirectoryException.class, executable).reason());
  }

  @Test
  void anExecutorPublishesWithItsNewSlabs() throws Exception {
    Directory fresh = new Directory(Samples.pagesOf(10));
    fresh.registerShuffle(0);
    try (DirectoryClient own =
        new DirectoryClient(
            new FakeChannel(fresh), "9", ClientSettings.withTimeout(Samples.AMPLE))) {
      assertFails(Reason.REFUSED, () -> own.publish(Samples.output(0, 1), List.of(), ample()));
      own.register(Samples.executor("9", 0), ample());
      own.register(Samples.executor("9", 0), ample());
      assertFails(Reason.REFUSED, () -> own.publish(Samples.output(0, 1), List.of(), ample()));
      own.publish(Samples.output(0, 1), Samples.slabs(1), ample());
      own.addSlabs(Samples.slabs(3), ample());
      assertEquals(3, fresh.peer("9").orElseThrow().executor().slabs().size());
      Located located = own.locate(0, 1, ample());
      assertEquals("9", located.executorId());
      DirectoryException refusal =
          assertThrows(
              DirectoryException.class,
              () -> own.publish(Samples.output(8, 1), List.of(), ample()));
      assertTrue(refusal.getMessage().contains("shuffle 8 is not registered"));
    }
  }

  @Test
  void locationsAreReadOnceAndThenIncrementally() throws Exception {
    publish(0, 95);
    assertTrue(client.ensureLocated(0, ids(0, 95), ample()));
    assertEquals(10, channel.asks(Messages.LOCATE), "95 outputs in pages of 10");
    Located located = new Located();
    for (long id = 0; id < 95; id++) {
      assertTrue(client.lookup(0, id, located));
      assertEquals(id % 2 == 0 ? "2" : "1", located.executorId());
      assertEquals(0, located.slabId());
      assertEquals(8 * id, located.offset());
      assertEquals(512, located.indexLength());
      assertEquals(id + 1, located.generation());
    }
    assertTrue(client.ensureLocated(0, ids(0, 95), ample()));
    assertEquals(10, channel.asks(Messages.LOCATE));
    publish(95, 100);
    assertNotNull(client.locate(0, 99, ample()));
    assertEquals(11, channel.asks(Messages.LOCATE));
    assertFalse(client.lookup(1, 0, located));
  }

  @Test
  void aLaterPublicationWins() throws Exception {
    directory.publish("1", Samples.output(0, 7, 0, 1));
    directory.publish("2", Samples.output(0, 7, 0, 2));
    Located located = client.locate(0, 7, ample());
    assertEquals("2", located.executorId());
    assertEquals(2, located.generation());
  }

  @Test
  void anOutputInFilesIsLocatedAsSuch() throws Exception {
    directory.registerShuffle(3);
    try (DirectoryClient owner = client(Samples.AMPLE, TTL, 1 << 20)) {
      owner.publish(OutputRecord.inFiles(3, 4), List.of(), ample());
    }
    FakeChannel wire = new FakeChannel(directory);
    try (DirectoryClient reader =
        new DirectoryClient(wire, "1", ClientSettings.withTimeout(Samples.AMPLE))) {
      Located located = reader.locate(3, 4, ample());
      assertEquals(Located.IN_FILES, located.slabId());
      assertEquals("9", located.executorId());
      assertNotNull(reader.locate(3, 4, ample()));
      assertEquals(1, wire.asks(Messages.LOCATE));
    }
  }

  @Test
  void manyTasksShareOneRefresh() throws Exception {
    publish(0, 8);
    CompletableFuture<Void> open = new CompletableFuture<>();
    channel.holdUntil(open);
    List<Boolean> answers = inParallel(32, open, () -> client.ensureLocated(0, ids(0, 8), ample()));
    assertFalse(answers.contains(false));
    assertEquals(1, channel.asks(Messages.LOCATE));
  }

  @Test
  void whatIsNotThereIsAskedForOnceOrTwice() throws Exception {
    publish(0, 8);
    CompletableFuture<Void> open = new CompletableFuture<>();
    channel.holdUntil(open);
    List<Boolean> answers =
        inParallel(
            32,
            open,
            () ->
                client.ensureLocated(
                    0, new long[] {1_000 + Thread.currentThread().getId()}, ample()));
    assertFalse(answers.contains(true));
    int asks = channel.asks(Messages.LOCATE);
    assertTrue(asks <= 2, "asks=" + asks);
    for (long id = 0; id < 5_000; id++) {
      assertNull(client.locate(0, 10_000 + id, ample()));
    }
    assertEquals(asks, channel.asks(Messages.LOCATE));
    assertNotNull(client.locate(0, 3, ample()), "what is cached is still found");
  }

  private static <T> List<T> inParallel(int threads, CompletableFuture<Void> open, Callable<T> task)
      throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try {
      CountDownLatch started = new CountDownLatch(threads);
      List<Future<T>> futures = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        futures.add(
            pool.submit(
                () -> {
                  started.countDown();
                  return task.call();
                }));
      }
      started.await();
      Thread.sleep(50); // lets them all wait; fewer waiting would only make the test weaker
      open.complete(null);
      List<T> results = new ArrayList<>();
      for (Future<T> future : futures) {
        results.add(future.get());
      }
      return results;
    } finally {
      pool.shutdownNow();
    }
  }

  @Test
  void whatIsNotThereIsAskedForAgainLater() throws Exception {
    try (DirectoryClient brief = client(Samples.AMPLE, Duration.ofMillis(20), 1 << 20)) {
      assertNull(brief.locate(0, 5, ample()));
      publish(5, 6);
      Thread.sleep(30);
      assertNotNull(brief.locate(0, 5, ample()));
    }
  }

  @Test
  void anOutputThatIsExpectedElsewhereIsAskedForAgain() throws Exception {
    publish(0, 8);
    assertTrue(client.ensureLocatedOn("2", 0, ids(6, 7), ample()));
    assertEquals(1, channel.asks(Messages.LOCATE));
    directory.publish("1", Samples.output(0, 6));
    assertTrue(client.ensureLocatedOn("2", 0, ids(6, 7), ample()), "as far as is known here");
    assertTrue(client.ensureLocatedOn("1", 0, ids(6, 7), ample()));
    assertEquals(2, channel.asks(Messages.LOCATE));
    Located located = new Located();
    assertTrue(client.lookup(0, 6, located));
    assertEquals("1", located.executorId());
    assertFalse(client.ensureLocatedOn("2", 0, ids(6, 7), ample()), "it is not there any more");
  }

  @Test
  void aDroppedShuffleIsNotThere() throws Exception {
    publish(0, 8);
    assertTrue(client.ensureLocated(0, ids(0, 8), ample()));
    directory.dropShuffle(0);
    assertFalse(client.ensureLocated(0, ids(0, 9), ample()));
    assertFalse(client.lookup(0, 1, new Located()), "the driver took it back");
    client.forgetShuffle(0);
    assertNull(client.locate(0, 1, ample()));
    assertEquals(0, client.usedBytes());
  }

  @Test
  void aLostExecutorTakesItsLocationsWithIt() throws Exception {
    publish(0, 8);
    assertTrue(client.ensureLocated(0, ids(0, 8), ample()));
    client.forgetExecutor("1");
    assertFalse(client.lookup(0, 1, new Located()));
    assertTrue(client.lookup(0, 2, new Located()));
    // Computed again elsewhere, under the same id as may be.
    directory.removeExecutor("1");
    directory.publish("2", Samples.output(0, 1));
    assertEquals("2", client.locate(0, 1, ample()).executorId());
  }

  @Test
  void anExecutorTheDriverDoesNotKnowLosesItsLocations() throws Exception {
    publish(0, 8);
    assertTrue(client.ensureLocated(0, ids(0, 8), ample()));
    assertNotNull(client.peer("1", ample()));
    directory.removeExecutor("1");
    assertNull(client.peer("1", 5, ample()));
    assertFalse(client.lookup(0, 1, new Located()));
  }

  @Test
  void peersAreFetchedInPassing() throws Exception {
    publish(0, 8);
    assertTrue(client.ensureLocated(0, ids(0, 8), ample()));
    assertEquals("host-1", client.peer("1", ample()).executor().host());
    assertEquals("host-2", client.peer("2", ample()).executor().host());
    assertEquals(1, channel.asks(Messages.PEERS), "both in one request");
  }

  @Test
  void aPeerIsFetchedAgainWhenALocationNamesALaterSlabTable() throws Exception {
    publish(0, 8);
    assertTrue(client.ensureLocated(0, ids(0, 8), ample()));
    assertNull(client.peer("1", ample()).slab(1));
    directory.addSlabs("1", Samples.slabs(2));
    assertNull(client.peer("1", ample()).slab(1), "nobody said so yet");
    directory.publish("1", Samples.output(0, 77, 1, 5));
    assertNotNull(client.locate(0, 77, ample()));
    assertNotNull(client.peer("1", ample()).slab(1));
  }

  @Test
  void aNeededSlabIsAskedForOnce() throws Exception {
    assertNull(client.peer("1", ample()).slab(1));
    directory.addSlabs("1", Samples.slabs(2));
    assertNotNull(client.peer("1", 1, ample()));
    int asks = channel.asks(Messages.PEERS);
    assertNull(client.peer("1", 50, ample()));
    assertNull(client.peer("1", 50, ample()));
    assertEquals(asks + 1, channel.asks(Messages.PEERS));
    assertNotNull(client.peer("1", ample()));
  }

  @Test
  void unknownPeersAreAskedForOnce() throws Exception {
    for (int i = 0; i < 100; i++) {
      assertNull(client.peer("nobody", ample()));
    }
    assertEquals(1, channel.asks(Messages.PEERS));
  }

  @Test
  void manyLargePeersComeInSeveralAnswers() throws Exception {
    Directory large = new Directory(new DirectoryLimits(500, 2_000, 10, 10_000, 1L << 30, 1_000));
    large.registerShuffle(0);
    for (int e = 0; e < 60; e++) {
      large.register(Samples.executor("e" + e, 1_000));
      large.publish("e" + e, Samples.output(0, e));
    }
    FakeChannel wire = new FakeChannel(large);
    try (DirectoryClient reader =
        new DirectoryClient(wire, "9", ClientSettings.withTimeout(Samples.AMPLE))) {
      assertTrue(reader.ensureLocated(0, ids(0, 60), ample()));
      for (int e = 0; e < 60; e++) {
        assertEquals(1_000, reader.peer("e" + e, ample()).executor().slabs().size());
      }
      int asks = wire.asks(Messages.PEERS);
      assertTrue(asks > 1 && asks < 60, "asks=" + asks);
    }
  }

  @Test
  void fewerRecordsThanPeersStillWork() throws Exception {
    try (DirectoryClient small =
        new DirectoryClient(channel, "8", new ClientSettings(Samples.AMPLE, TTL, 1 << 20, 1))) {
      for (int i = 0; i < 10; i++) {
        assertEquals("host-1", small.peer("1", ample()).executor().host());
        assertEquals("host-2", small.peer("2", ample()).executor().host());
      }
    }
  }

  @Test
  void everyWaitEndsAtItsDeadline() throws Exception {
    channel.holdUntil(new CompletableFuture<>());
    long beganNs = System.nanoTime();
    assertFails(Reason.TIMEOUT, () -> client.locate(0, 1, Deadline.after(Samples.SOON)));
    assertFails(Reason.TIMEOUT, () -> client.peer("1", Deadline.after(Samples.SOON)));
    assertFails(
        Reason.TIMEOUT,
        () -> client.publish(Samples.output(0, 1), List.of(), Deadline.after(Samples.SOON)));
    assertFails(
        Reason.TIMEOUT,
        () -> client.register(Samples.executor("9", 1), Deadline.after(Samples.SOON)));
    long tookMs = (System.nanoTime() - beganNs) / 1_000_000;
    assertTrue(tookMs < 4_000, "took ms=" + tookMs);
  }

  @Test
  void aSharedRequestThatTimesOutFailsAllAndIsNotRepeatedAtOnce() throws Exception {
    channel.holdUntil(new CompletableFuture<>());
    try (DirectoryClient impatient = client(Duration.ofMillis(50), TTL, 1 << 20)) {
      for (int i = 0; i < 100; i++) {
        assertFails(Reason.TIMEOUT, () -> impatient.locate(0, 1, ample()));
        assertFails(Reason.TIMEOUT, () -> impatient.peer("1", ample()));
      }
      assertEquals(1, channel.asks(Messages.LOCATE));
      assertEquals(1, channel.asks(Messages.PEERS));
    }
  }

  @Test
  void aKilledTaskBreaksNobodyElsesWait() throws Exception {
    publish(0, 8);
    CompletableFuture<Void> open = new CompletableFuture<>();
    channel.holdUntil(open);
    AtomicReference<Throwable> seen = new AtomicReference<>();
    Thread killed =
        new Thread(
            () -> {
              try {
                client.locate(0, 1, ample());
              } catch (DirectoryException | InterruptedException e) {
                seen.set(e);
              }
            });
    killed.start();
    while (channel.asks(Messages.LOCATE) == 0) {
      Thread.sleep(1);
    }
    killed.interrupt();
    killed.join();
    assertInstanceOf(InterruptedException.class, seen.get());
    List<Boolean> answers = inParallel(4, open, () -> client.ensureLocated(0, ids(0, 8), ample()));
    assertFalse(answers.contains(false));
    assertEquals(1, channel.asks(Messages.LOCATE));
  }

  @Test
  void closingEndsAllWaits() throws Exception {
    channel.holdUntil(new CompletableFuture<>());
    AtomicReference<Throwable> seen = new AtomicReference<>();
    Thread waiting =
        new Thread(
            () -> {
              try {
                client.locate(0, 1, ample());
              } catch (DirectoryException | InterruptedException e) {
                seen.set(e);
              }
            });
    waiting.start();
    while (channel.asks(Messages.LOCATE) == 0) {
      Thread.sleep(1);
    }
    client.close();
    client.close();
    waiting.join();
    assertEquals(Reason.CLOSED, ((DirectoryException) seen.get()).reason());
    assertFails(Reason.CLOSED, () -> client.locate(0, 1, ample()));
    assertFails(Reason.CLOSED, () -> client.peer("1", ample()));
    assertFails(Reason.CLOSED, () -> client.publish(Samples.output(0, 1), List.of(), ample()));
  }

  @Test
  void theDriverSaysWhichShufflesItHasDropped() throws Exception {
    directory.registerShuffle(1);
    directory.registerShuffle(2);
    directory.dropShuffle(2);
    assertEquals(
        List.of(2),
        client.droppedOf(new TreeSet<>(Set.of(1, 2, 3)), ample()).get(10, TimeUnit.SECONDS),
        "3 was never listed, which may be the driver's limits");
    assertEquals(List.of(), client.droppedOf(new TreeSet<>(), ample()).get(10, TimeUnit.SECONDS));
    SortedSet<Integer> many =
        IntStream.range(0, 10_000).boxed().collect(Collectors.toCollection(TreeSet::new));
    assertEquals(List.of(2), client.droppedOf(many, ample()).get(10, TimeUnit.SECONDS));
  }

  @Test
  void answersThatCannotBeReadAreIncompatible() throws Exception {
    publish(0, 8);
    channel.tamper(
        answer -> {
          byte[] other = answer.clone();
          other[0]++;
          return other;
        });
    DirectoryException e =
        assertThrows(DirectoryException.class, () -> client.locate(0, 1, ample()));
    assertEquals(Reason.INCOMPATIBLE, e.reason());
    assertTrue(e.getMessage().contains("different plugin jars"), e.getMessage());
    channel.tamper(answer -> Messages.acknowledged());
    assertFails(Reason.INCOMPATIBLE, () -> client.peer("1", ample()));
    channel.tamper(answer -> new byte[0]);
    assertFails(
        Reason.INCOMPATIBLE, () -> client.publish(Samples.output(0, 9), List.of(), ample()));
    channel.tamper(
        answer -> Messages.encodePage(new LocatePage(new long[0], 0, 0, true, List.of())));
    try (DirectoryClient other = client(Samples.AMPLE, TTL, 1 << 20)) {
      assertFails(Reason.INCOMPATIBLE, () -> other.locate(0, 1, ample()));
    }
  }

  @Test
  void aDriverOfAnotherVersionNamesBoth() throws Exception {
    byte[] request = Messages.encodeLocate(new Messages.LocateRequest(0, 0));
    request[0] = 3;
    byte[] answer = new DirectoryService(directory).answer(request);
    DirectoryException failure = Messages.decodeFailed(answer);
    assertEquals(Reason.INCOMPATIBLE, failure.reason());
    assertTrue(failure.getMessage().contains("version 3"), failure.getMessage());
  }

  @Test
  void locationsStayWithinTheirBudget() throws Exception {
    Directory large = new Directory(new DirectoryLimits(10, 10, 10, 100_000, 1L << 30, 1_000));
    large.register(Samples.executor("1", 1));
    for (int shuffle = 0; shuffle < 4; shuffle++) {
      large.registerShuffle(shuffle);
      for (long id = 0; id < 2_000; id++) {
        large.publish("1", Samples.output(shuffle, id));
      }
    }
    long budget = 400_000; // room for two of the shuffles
    FakeChannel wire = new FakeChannel(large);
    try (DirectoryClient small =
        new DirectoryClient(wire, "9", new ClientSettings(Samples.AMPLE, TTL, budget, 10))) {
      for (int round = 0; round < 3; round++) {
        for (int shuffle = 0; shuffle < 4; shuffle++) {
          assertTrue(small.ensureLocated(shuffle, ids(0, 2_000), ample()));
          assertTrue(small.usedBytes() <= budget, "bytes=" + small.usedBytes());
        }
      }
      assertTrue(small.lookup(3, 5, new Located()));
      assertFalse(small.lookup(0, 5, new Located()), "used longest ago");
    }
    try (DirectoryClient tiny =
        new DirectoryClient(
            new FakeChannel(large), "9", new ClientSettings(Samples.AMPLE, TTL, 50_000, 10))) {
      assertFalse(tiny.ensureLocated(0, ids(0, 2_000), ample()), "too large for the budget");
      assertTrue(tiny.usedBytes() <= 50_000);
    }
  }

  @Test
  void lookingUpAllocatesNothing() throws Exception {
    int shuffleId = 1_000_000; // beyond the small numbers whose boxes Java keeps
    directory.registerShuffle(shuffleId);
    for (long id = 0; id < 1_000; id++) {
      directory.publish("1", Samples.output(shuffleId, id));
    }
    assertTrue(client.ensureLocated(shuffleId, ids(0, 1_000), ample()));
    com.sun.management.ThreadMXBean threads =
        assertInstanceOf(
            com.sun.management.ThreadMXBean.class, ManagementFactory.getThreadMXBean());
    Located located = new Located();
    long least = Long.MAX_VALUE;
    for (int round = 0; round < 20; round++) {
      long before = threads.getCurrentThreadAllocatedBytes();
      for (long id = 0; id < 1_000; id++) {
        client.lookup(shuffleId, id, located);
      }
      least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
    }
    assertTrue(least < 1_000, "bytes for 1000 lookups=" + least);
  }

  @Test
  void reportsReachTheDriver() {
    client.report(Map.of("rdma.bytes", 5L));
    client.report(Map.of("rdma.bytes", 9L));
    assertEquals(Map.of("rdma.bytes", 9L), directory.totals());
  }
}
