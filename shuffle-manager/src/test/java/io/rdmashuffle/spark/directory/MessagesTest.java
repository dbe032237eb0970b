package io.rdmashuffle.spark.directory;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.spark.directory.DirectoryException.Reason;
import io.rdmashuffle.spark.directory.LocatePage.ExecutorMention;
import io.rdmashuffle.transport.DecoderFuzz;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class MessagesTest {
  private interface Decoder {
    Object decode(byte[] message) throws DirectoryMessageException;
  }

  private static final class Sample {
    private final String name;
    private final byte[] message;
    private final Decoder decoder;

    Sample(String name, byte[] message, Decoder decoder) {
      this.name = name;
      this.message = message;
      this.decoder = decoder;
    }
  }

  private final List<Sample> allSamples = samples();

  private static LocatePage page() {
    long[] words = new long[3 * OutputLog.WORDS];
    for (int i = 0; i < 3; i++) {
      int word = i * OutputLog.WORDS;
      words[word + OutputLog.MAP_TASK_ID] = i == 1 ? Long.MIN_VALUE : 5L + i;
      words[word + OutputLog.GENERATION] = i == 2 ? Long.MAX_VALUE : -i;
      words[word + OutputLog.OFFSET] = i * 4096L;
      words[word + OutputLog.EXECUTOR_AND_SLAB] = OutputLog.pack(i % 2, 100 + i);
      words[word + OutputLog.INDEX_LENGTH] = 64L + i;
    }
    return new LocatePage(
        words,
        3,
        17,
        true,
        List.of(new ExecutorMention(4, "3", 9), new ExecutorMention(0, "driver", 1)));
  }

  private static List<Optional<PeerRecord>> peers() {
    return List.of(
        Optional.of(new PeerRecord(Samples.executor("1", 3), 4)),
        Optional.empty(),
        Optional.of(new PeerRecord(Samples.executor("äöü", 0), 1)));
  }

  private static List<Sample> samples() {
    List<OutputRecord> outputs = List.of(Samples.output(3, 9), Samples.output(0, 0, 2, -5));
    return List.of(
        new Sample(
            "register",
            Messages.encodeRegister(Samples.executor("1", 3)),
            Messages::decodeRegister),
        new Sample(
            "publish",
            Messages.encodePublish(new Messages.Publication("1", Samples.slabs(2), outputs)),
            Messages::decodePublish),
        new Sample(
            "locate",
            Messages.encodeLocate(new Messages.LocateRequest(300, 70_000)),
            Messages::decodeLocate),
        new Sample("peers", Messages.encodePeers(List.of("1", "2")), Messages::decodePeers),
        new Sample(
            "report",
            Messages.encodeReport(new Messages.Report("1", 3, Map.of("a", 1L, "b", -2L))),
            Messages::decodeReport),
        new Sample("held", Messages.encodeHeld(List.of(0, 70_000)), Messages::decodeHeld),
        new Sample("dropped", Messages.encodeDropped(List.of(3)), Messages::decodeDropped),
        new Sample("page", Messages.encodePage(page()), Messages::decodePage),
        new Sample(
            "peers answer", Messages.encodePeersAnswer(peers()), Messages::decodePeersAnswer),
        new Sample(
            "failed",
            Messages.encodeFailed(new DirectoryException(Reason.REFUSED, "no")),
            Messages::decodeFailed),
        new Sample("no shuffle", Messages.noShuffle(), Messages::decodePage),
        new Sample(
            "acknowledged",
            Messages.acknowledged(),
            message -> {
              Messages.decodeAcknowledged(message);
              return true;
            }));
  }

  @Test
  void requestsComeBackAsTheyWere() throws Exception {
    ExecutorRecord executor = Samples.executor("1", 3);
    ExecutorRecord decoded = Messages.decodeRegister(Messages.encodeRegister(executor));
    assertEquals(executor, decoded);
    assertArrayEquals(executor.token(), decoded.token());
    Messages.Publication publication =
        new Messages.Publication(
            "1",
            Samples.slabs(2),
            List.of(
                new OutputRecord(Integer.MAX_VALUE, Long.MIN_VALUE, 1, Long.MAX_VALUE, 1, -1),
                Samples.output(3, 9)));
    assertEquals(publication, Messages.decodePublish(Messages.encodePublish(publication)));
    Messages.LocateRequest locate = new Messages.LocateRequest(300, Integer.MAX_VALUE);
    assertEquals(locate, Messages.decodeLocate(Messages.encodeLocate(locate)));
    assertEquals(List.of("1", "2"), Messages.decodePeers(Messages.encodePeers(List.of("1", "2"))));
    List<Integer> shuffles = List.of(0, Integer.MAX_VALUE);
    assertEquals(shuffles, Messages.decodeHeld(Messages.encodeHeld(shuffles)));
    Messages.Report report = new Messages.Report("1", 3, Map.of("a", Long.MIN_VALUE, "b", 2L));
    assertEquals(report, Messages.decodeReport(Messages.encodeReport(report)));
  }

  @Test
  void pagesComeBackAsTheyWere() throws Exception {
    LocatePage expected = page();
    LocatePage actual = Messages.decodePage(Messages.encodePage(expected)).orElseThrow();
    assertEquals(expected.executors(), actual.executors());
    assertEquals(17, actual.nextPosition());
    assertTrue(actual.more());
    assertEquals(3, actual.count());
    for (int i = 0; i < 3; i++) {
      assertEquals(expected.executor(i), actual.executor(i));
      assertEquals(expected.slabId(i), actual.slabId(i));
      assertEquals(expected.mapTaskId(i), actual.mapTaskId(i));
      assertEquals(expected.generation(i), actual.generation(i));
      assertEquals(expected.offset(i), actual.offset(i));
      assertEquals(expected.indexLength(i), actual.indexLength(i));
    }
    assertEquals(Optional.empty(), Messages.decodePage(Messages.noShuffle()));
  }

  @Test
  void peersComeBackAsTheyWere() throws Exception {
    assertEquals(peers(), Messages.decodePeersAnswer(Messages.encodePeersAnswer(peers())));
  }

  @Test
  void refusalsKeepReasonAndText() throws Exception {
    byte[] message =
        Messages.encodeFailed(new DirectoryException(Reason.REFUSED, "x".repeat(9999)));
    DirectoryException failure = Messages.decodeFailed(message);
    assertEquals(Reason.REFUSED, failure.reason());
    assertTrue(failure.getMessage().length() <= Bounds.MAX_TEXT_BYTES + 10);
  }

  @Test
  void anotherVersionIsNamedTogetherWithOurs() {
    for (Sample sample : allSamples) {
      byte[] other = sample.message.clone();
      other[0] = 9;
      Exception e =
          assertThrows(
              DirectoryMessageException.class, () -> sample.decoder.decode(other), sample.name);
      assertTrue(e.getMessage().contains("version 9"), e.getMessage());
      assertTrue(e.getMessage().contains("version " + Messages.VERSION), e.getMessage());
      assertTrue(e.getMessage().contains("different plugin jars"), e.getMessage());
    }
  }

  @Test
  void everyPrefixAndEveryTrailingByteIsRefused() {
    for (Sample sample : allSamples) {
      byte[] whole = sample.message;
      for (int length = 0; length < whole.length; length++) {
        byte[] cut = Arrays.copyOf(whole, length);
        assertThrows(
            DirectoryMessageException.class,
            () -> sample.decoder.decode(cut),
            sample.name + " cut to " + length);
      }
      byte[] longer = Arrays.copyOf(whole, whole.length + 1);
      assertThrows(
          DirectoryMessageException.class, () -> sample.decoder.decode(longer), sample.name);
    }
  }

  @Test
  void mutatedMessagesOnlyEverThrowTheDeclaredException() {
    for (Sample sample : allSamples) {
      DecoderFuzz.of(sample.name, List.of(sample.message))
          .declaring(DirectoryMessageException.class)
          .allocating(256 << 10, 64) // the text of a refusal is made with a formatter
          .run(input -> sample.decoder.decode(input) != null);
    }
  }

  @Test
  void hugeCountsAllocateNothing() {
    // Counts of 2^31 - 1, and the largest within bounds, in messages of a few bytes.
    for (int count :
        new int[] {Integer.MAX_VALUE, Bounds.MAX_SLABS, Bounds.MAX_PEERS_PER_REQUEST}) {
      assertBoundedRefusal(
          new MessageWriter(Messages.PUBLISH).text("1").count(count).toBytes(),
          Messages::decodePublish);
      assertBoundedRefusal(
          new MessageWriter(Messages.PUBLISH).text("1").count(0).count(count).toBytes(),
          Messages::decodePublish);
      assertBoundedRefusal(
          new MessageWriter(Messages.PEERS).count(count).toBytes(), Messages::decodePeers);
      assertBoundedRefusal(
          new MessageWriter(Messages.REPORT).text("1").length(1).count(count).toBytes(),
          Messages::decodeReport);
      assertBoundedRefusal(
          new MessageWriter(Messages.PAGE).count(1).flag(false).count(count).toBytes(),
          Messages::decodePage);
      assertBoundedRefusal(
          new MessageWriter(Messages.PAGE).count(1).flag(false).count(0).count(count).toBytes(),
          Messages::decodePage);
      assertBoundedRefusal(
          new MessageWriter(Messages.PEERS_ANSWER).count(count).toBytes(),
          Messages::decodePeersAnswer);
      assertBoundedRefusal(
          new MessageWriter(Messages.REGISTER).count(count).toBytes(), Messages::decodeRegister);
    }
  }

  private static void assertBoundedRefusal(byte[] message, Decoder decoder) {
    com.sun.management.ThreadMXBean threads =
        assertInstanceOf(
            com.sun.management.ThreadMXBean.class, ManagementFactory.getThreadMXBean());
    long before = threads.getCurrentThreadAllocatedBytes();
    assertThrows(DirectoryMessageException.class, () -> decoder.decode(message));
    long allocated = threads.getCurrentThreadAllocatedBytes() - before;
    assertTrue(allocated < 1 << 20, "allocated=" + allocated);
  }

  @Test
  void boundsOfRecordsHold() {
    List<Runnable> beyond = new ArrayList<>();
    beyond.add(() -> new SlabRecord(-1, 1, Map.of()));
    beyond.add(() -> new SlabRecord(0, 0, Map.of()));
    beyond.add(() -> new SlabRecord(0, 1, Map.of("t".repeat(33), new SlabKey(0, 0))));
    beyond.add(() -> new OutputRecord(-1, 0, 0, 0, 1, 0));
    beyond.add(() -> new OutputRecord(0, 0, 0, -1, 1, 0));
    beyond.add(() -> new OutputRecord(0, 0, 0, 0, 0, 0));
    beyond.add(() -> new ExecutorRecord("", "h", new byte[32], Map.of(), List.of()));
    beyond.add(() -> new ExecutorRecord("e".repeat(257), "h", new byte[32], Map.of(), List.of()));
    beyond.add(() -> new ExecutorRecord("1", "h", new byte[31], Map.of(), List.of()));
    beyond.add(
        () -> new ExecutorRecord("1", "h", new byte[32], Map.of("rdma", new byte[513]), List.of()));
    beyond.add(
        () ->
            new ExecutorRecord(
                "1", "h", new byte[32], Map.of(), List.of(Samples.slab(1), Samples.slab(1))));
    for (Runnable runnable : beyond) {
      assertThrows(IllegalArgumentException.class, runnable::run);
    }
  }

  @Test
  void secretsAreNotPrinted() {
    ExecutorRecord executor =
        new ExecutorRecord(
            "1",
            "h",
            Samples.token(0x5A),
            Map.of("rdma", new byte[] {77, 77}),
            List.of(new SlabRecord(0, 1, Map.of("rdma", new SlabKey(987_654_321L, 123_456)))));
    String text = executor + " " + executor.slabs() + " " + new PeerRecord(executor, 1);
    for (String secret : List.of("90", "5a", "77", "987654321", "123456")) {
      assertFalse(text.contains(secret), text);
    }
  }
}
