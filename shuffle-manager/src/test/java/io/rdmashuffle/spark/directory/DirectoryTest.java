package io.rdmashuffle.spark.directory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.spark.directory.DirectoryException.Reason;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

class DirectoryTest {
  private final Directory directory = new Directory(Samples.pagesOf(10));

  private static void assertRefused(String text, Executable executable) {
    DirectoryException e = assertThrows(DirectoryException.class, executable);
    assertEquals(Reason.REFUSED, e.reason());
    assertTrue(e.getMessage().contains(text), e.getMessage());
  }

  private LocatePage page(int shuffleId, int from) throws DirectoryException {
    return directory.locate(shuffleId, from).orElseThrow();
  }

  private static List<Long> mapTaskIds(LocatePage page) {
    List<Long> ids = new ArrayList<>();
    for (int i = 0; i < page.count(); i++) {
      ids.add(page.mapTaskId(i));
    }
    return ids;
  }

  @Test
  void outputsAreLocatedIncrementally() throws Exception {
    directory.register(Samples.executor("1", 2));
    directory.registerShuffle(0);
    directory.publish("1", Samples.output(0, 100, 1, 77));
    LocatePage first = page(0, 0);
    assertEquals(List.of(100L), mapTaskIds(first));
    assertEquals("1", first.executors().get(first.executor(0)).executorId());
    assertEquals(1, first.slabId(0));
    assertEquals(800, first.offset(0));
    assertEquals(512, first.indexLength(0));
    assertEquals(77, first.generation(0));
    assertFalse(first.more());
    assertEquals(0, page(0, first.nextPosition()).count());
    directory.publish("1", Samples.output(0, 101));
    assertEquals(List.of(101L), mapTaskIds(page(0, first.nextPosition())));
  }

  @Test
  void longLogsComeInPages() throws Exception {
    directory.register(Samples.executor("1", 1));
    directory.registerShuffle(0);
    List<Long> expected = new ArrayList<>();
    for (long id = 0; id < 2_500; id++) {
      directory.publish("1", Samples.output(0, id));
      expected.add(id);
    }
    List<Long> located = new ArrayList<>();
    int position = 0;
    LocatePage page;
    do {
      page = page(0, position);
      assertTrue(page.count() <= 10);
      located.addAll(mapTaskIds(page));
      position = page.nextPosition();
    } while (page.more());
    assertEquals(expected, located);
    assertRefused("is not within 0 to 2500", () -> directory.locate(0, 2_501));
  }

  @Test
  void outputsOfLostExecutorsVanish() throws Exception {
    directory.register(Samples.executor("1", 1));
    directory.register(Samples.executor("2", 1));
    directory.registerShuffle(0);
    for (long id = 0; id < 40; id++) {
      directory.publish(id % 2 == 0 ? "1" : "2", Samples.output(0, id));
    }
    directory.removeExecutor("1");
    directory.removeExecutor("unheard of");
    LocatePage page = page(0, 0);
    assertEquals(List.of(1L, 3L, 5L, 7L, 9L, 11L, 13L, 15L, 17L, 19L), mapTaskIds(page));
    assertEquals(1, page.executors().size());
    assertTrue(directory.peer("1").isEmpty());
    assertRefused("not registered", () -> directory.publish("1", Samples.output(0, 99)));
    assertRefused("not registered", () -> directory.addSlabs("1", Samples.slabs(1)));
  }

  @Test
  void aRemovedExecutorComesBackOnlyAsAnotherProcess() throws Exception {
    directory.registerShuffle(0);
    directory.register(Samples.executor("1", 7, 1));
    directory.publish("1", Samples.output(0, 1));
    assertRefused("another process", () -> directory.register(Samples.executor("1", 8, 1)));
    directory.removeExecutor("1");
    assertRefused("was removed", () -> directory.register(Samples.executor("1", 7, 1)));
    directory.register(Samples.executor("1", 8, 1));
    assertEquals(0, page(0, 0).count(), "outputs of the former process");
    directory.publish("1", Samples.output(0, 2));
    assertEquals(List.of(2L), mapTaskIds(page(0, 0)));
  }

  @Test
  void publishingToAShuffleThatIsUnknownOrDroppedIsRefusedAsSuch() throws Exception {
    directory.register(Samples.executor("1", 1));
    assertRefused("shuffle 5 is not", () -> directory.publish("1", Samples.output(5, 1)));
    directory.registerShuffle(5);
    long before = directory.usedBytes();
    directory.publish("1", Samples.output(5, 1));
    directory.dropShuffle(5);
    directory.dropShuffle(5);
    assertEquals(before, directory.usedBytes());
    assertEquals(Reason.DROPPED, reasonOfPublishing(Samples.output(5, 2)));
    assertTrue(directory.locate(5, 0).isEmpty());
    directory.registerShuffle(5);
    directory.publish("1", Samples.output(5, 1));
  }

  @Test
  void whichShufflesWereDroppedIsRememberedWithinBounds() throws Exception {
    directory.register(Samples.executor("1", 1));
    for (int shuffle = 0; shuffle < 50_000; shuffle++) {
      directory.registerShuffle(shuffle);
      directory.dropShuffle(shuffle);
    }
    assertEquals(Reason.REFUSED, reasonOfPublishing(Samples.output(0, 1)));
    assertEquals(Reason.DROPPED, reasonOfPublishing(Samples.output(49_999, 1)));
  }

  private Reason reasonOfPublishing(OutputRecord output) {
    return assertThrows(DirectoryException.class, () -> directory.publish("1", output)).reason();
  }

  @Test
  void anOutputMayBePublishedAgain() throws Exception {
    directory.register(Samples.executor("1", 1));
    directory.register(Samples.executor("2", 1));
    directory.registerShuffle(0);
    directory.publish("1", Samples.output(0, 7, 0, 1));
    directory.publish("2", Samples.output(0, 7, 0, 2));
    LocatePage page = page(0, 0);
    assertEquals(List.of(7L, 7L), mapTaskIds(page));
    assertEquals(2, page.generation(1));
  }

  @Test
  void slabTablesCarryVersions() throws Exception {
    directory.register(Samples.executor("1", 1));
    directory.registerShuffle(0);
    directory.publish("1", Samples.output(0, 1));
    assertEquals(1, page(0, 0).executors().get(0).version());
    directory.addSlabs("1", List.of(Samples.slab(1), Samples.slab(0)));
    assertEquals(2, page(0, 0).executors().get(0).version());
    PeerRecord peer = directory.peer("1").orElseThrow();
    assertEquals(2, peer.version());
    assertEquals(Samples.slab(1), peer.slab(1));
    directory.addSlabs("1", Samples.slabs(2));
    directory.register(Samples.executor("1", 2));
    assertEquals(2, directory.peer("1").orElseThrow().version(), "nothing new, no new version");
    directory.register(Samples.executor("1", 3));
    assertEquals(3, directory.peer("1").orElseThrow().version());
    SlabRecord other = new SlabRecord(0, 1, Map.of());
    assertRefused("listed otherwise", () -> directory.addSlabs("1", List.of(other)));
  }

  @Test
  void anOutputMustLieInAListedSlab() throws Exception {
    directory.register(Samples.executor("1", 1));
    directory.registerShuffle(0);
    assertRefused("slab 4", () -> directory.publish("1", Samples.output(0, 1, 4, 1)));
    long last = Samples.SLAB_LENGTH - 64;
    directory.publish("1", new OutputRecord(0, 1, 0, last, 64, 1));
    assertRefused(
        "exceeds", () -> directory.publish("1", new OutputRecord(0, 1, 0, last + 1, 64, 1)));
    assertRefused(
        "exceeds", () -> directory.publish("1", new OutputRecord(0, 1, 0, Long.MAX_VALUE, 64, 1)));
  }

  @Test
  void everyLimitIsRefusedByName() throws Exception {
    Directory small = new Directory(new DirectoryLimits(2, 2, 1, 20, 4_000, 10));
    small.register(Samples.executor("1", 1));
    small.register(Samples.executor("2", 1));
    assertRefused("executors=3 > 2", () -> small.register(Samples.executor("3", 1)));
    assertRefused("slabs of executor 1=3 > 2", () -> small.addSlabs("1", Samples.slabs(3)));
    small.registerShuffle(0);
    small.registerShuffle(0);
    assertRefused("shuffles=2 > 1", () -> small.registerShuffle(1));
    for (long id = 0; id < 16; id++) {
      small.publish("1", Samples.output(0, id));
    }
    assertRefused("maxTotalBytes=4000", () -> small.publish("1", Samples.output(0, 16)));

    Directory shortLogs = new Directory(new DirectoryLimits(2, 2, 1, 20, 1 << 20, 10));
    shortLogs.register(Samples.executor("1", 1));
    shortLogs.registerShuffle(0);
    for (long id = 0; id < 20; id++) {
      shortLogs.publish("1", Samples.output(0, id));
    }
    assertRefused("outputs of shuffle 0 > 20", () -> shortLogs.publish("1", Samples.output(0, 20)));
  }

  @Test
  void memoryComesBack() throws Exception {
    for (int round = 0; round < 50; round++) {
      directory.register(Samples.executor("e" + round, 5));
      directory.registerShuffle(round);
      for (long id = 0; id < 100; id++) {
        directory.publish("e" + round, Samples.output(round, id));
      }
      directory.removeExecutor("e" + round);
      directory.dropShuffle(round);
      assertEquals(0, directory.usedBytes());
    }
  }

  @Test
  void anOutputTakesAtMost64Bytes() throws Exception {
    Directory large = new Directory(DirectoryLimits.defaults());
    large.register(Samples.executor("1", 1));
    large.registerShuffle(0);
    int outputs = 1_000_000;
    long before = heapInUse();
    long reservedBefore = large.usedBytes();
    for (long id = 0; id < outputs; id++) {
      large.publish("1", new OutputRecord(0, id, 0, 8 * id, 512, id));
    }
    double measured = (heapInUse() - before) / (double) outputs;
    double accounted = (large.usedBytes() - reservedBefore) / (double) outputs;
    System.out.printf(
        "bytes per output on the driver: %.1f on the heap, %.1f accounted%n", measured, accounted);
    assertTrue(measured <= 64, "bytes per output=" + measured);
    assertTrue(accounted <= 64, "bytes per output=" + accounted);
    assertEquals(outputs, large.stamp(0).orElseThrow().size());
  }

  private static long heapInUse() {
    for (int i = 0; i < 3; i++) {
      System.gc();
    }
    return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
  }

  @Test
  void readersSeeWholeEntriesWhileOthersPublish() throws Exception {
    Directory shared = new Directory(Samples.pagesOf(64));
    shared.register(Samples.executor("1", 1));
    shared.registerShuffle(0);
    AtomicBoolean done = new AtomicBoolean();
    Thread publisher =
        new Thread(
            () -> {
              try {
                for (long id = 0; id < 50_000; id++) {
                  shared.publish("1", new OutputRecord(0, id, 0, 8 * id, 512, -id));
                }
              } catch (DirectoryException e) {
                throw new AssertionError(e);
              } finally {
                done.set(true);
              }
            });
    publisher.start();
    long expected = 0;
    int position = 0;
    boolean last = false;
    while (!last) {
      last = done.get();
      LocatePage page;
      do {
        page = shared.locate(0, position).orElseThrow();
        for (int i = 0; i < page.count(); i++) {
          assertEquals(expected, page.mapTaskId(i));
          assertEquals(-expected, page.generation(i));
          assertEquals(8 * expected, page.offset(i));
          assertEquals(512, page.indexLength(i));
          expected++;
        }
        position = page.nextPosition();
      } while (page.more());
    }
    publisher.join();
    assertEquals(50_000, expected);
  }

  @Test
  void totalsKeepTheLatestReportOfEachExecutor() {
    directory.report("1", 1, Map.of("rdma.bytes", 10L, "shm.bytes", 1L));
    directory.report("2", 1, Map.of("rdma.bytes", 5L));
    directory.report("1", 3, Map.of("rdma.bytes", 30L, "tcp.bytes", 2L));
    directory.report("1", 2, Map.of("rdma.bytes", 20L));
    directory.removeExecutor("1");
    assertEquals(Map.of("rdma.bytes", 35L, "shm.bytes", 0L, "tcp.bytes", 2L), directory.totals());
  }

  @Test
  void totalsSurviveMoreExecutorsThanAreKept() {
    CounterTotals totals = new CounterTotals(3, 2);
    for (int i = 0; i < 10; i++) {
      assertTrue(totals.report("e" + i, 1, Map.of("bytes", 1L)));
    }
    assertEquals(Map.of("bytes", 10L), totals.totals());
    assertFalse(totals.report("e9", 2, Map.of("a", 1L, "b", 1L)), "too many names");
  }
}
