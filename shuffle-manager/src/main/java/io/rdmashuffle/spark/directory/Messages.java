package io.rdmashuffle.spark.directory;

import io.rdmashuffle.spark.directory.DirectoryException.Reason;
import io.rdmashuffle.spark.directory.LocatePage.ExecutorMention;
import io.rdmashuffle.transport.PeerIdentity;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The messages between executors and the driver's directory.
 *
 * <p>Both sides come from the same jar, so a message of another version is refused, not converted.
 * Only the two header bytes must keep their meaning for ever, so that this refusal works.
 *
 * <p>Decoders take bytes from anybody: they throw {@link DirectoryMessageException} and nothing
 * else, and allocate no more than a small multiple of the message.
 */
final class Messages {
  static final byte VERSION = 2;

  static final byte REGISTER = 1;
  static final byte PUBLISH = 2;
  static final byte LOCATE = 3;
  static final byte PEERS = 4;
  static final byte REPORT = 5;
  static final byte HELD = 6;

  static final byte ACKNOWLEDGED = 65;
  static final byte FAILED = 66;
  static final byte PAGE = 67;
  static final byte NO_SHUFFLE = 68;
  static final byte PEERS_ANSWER = 69;
  static final byte DROPPED = 70;

  // Least bytes of one element on the wire, to check counts against what is left.
  private static final int MIN_SLAB_BYTES = 3;
  private static final int MIN_OUTPUT_BYTES = 13;
  private static final int MIN_ENTRY_BYTES = 6;
  private static final int MIN_MENTION_BYTES = 4;
  private static final int MIN_NAMED_BYTES = 2;

  // By their number on the wire.
  private static final List<Reason> FAILURES =
      List.of(Reason.INCOMPATIBLE, Reason.REFUSED, Reason.DROPPED);

  private Messages() {}

  /** Slabs and outputs of one executor that go into the directory together. */
  record Publication(String executorId, List<SlabRecord> slabs, List<OutputRecord> outputs) {}

  /** Which page of which shuffle. */
  record LocateRequest(int shuffleId, int fromPosition) {}

  /** Cumulative counters of an executor. */
  record Report(String executorId, long sequence, Map<String, Long> counters) {
    Report {
      Bounds.check(
          counters.size() <= Bounds.MAX_COUNTERS,
          "counters=%d > %d",
          counters.size(),
          Bounds.MAX_COUNTERS);
      for (String name : counters.keySet()) {
        Bounds.checkLength("counter name", name, Bounds.MAX_COUNTER_NAME_BYTES);
      }
    }
  }

  /** A body that may find a record's own checks in its way. */
  private interface Body<T> {
    T read(MessageReader in) throws DirectoryMessageException;
  }

  private static <T> T decode(byte[] message, byte type, Body<T> body)
      throws DirectoryMessageException {
    MessageReader in = new MessageReader(message).expect(type);
    try {
      T value = body.read(in);
      in.end();
      return value;
    } catch (IllegalArgumentException e) {
      throw new DirectoryMessageException("message of type " + type + ": " + e.getMessage(), e);
    }
  }

  static byte[] encodeRegister(ExecutorRecord executor) {
    MessageWriter out = new MessageWriter(REGISTER);
    writeExecutor(out, executor);
    return out.toBytes();
  }

  static ExecutorRecord decodeRegister(byte[] message) throws DirectoryMessageException {
    return decode(message, REGISTER, Messages::readExecutor);
  }

  static byte[] encodePublish(Publication publication) {
    MessageWriter out = new MessageWriter(PUBLISH);
    out.text(publication.executorId());
    writeSlabs(out, publication.slabs());
    out.count(publication.outputs().size());
    for (OutputRecord output : publication.outputs()) {
      out.count(output.shuffleId())
          .delta(output.mapTaskId())
          .count(output.slabId())
          .length(output.offset())
          .count(output.indexLength())
          .fixedLong(output.generation());
    }
    return out.toBytes();
  }

  static Publication decodePublish(byte[] message) throws DirectoryMessageException {
    return decode(
        message,
        PUBLISH,
        in -> {
          String executorId = in.text("executorId", Bounds.MAX_NAME_BYTES);
          List<SlabRecord> slabs = readSlabs(in);
          int count = in.elements("outputs", Bounds.MAX_OUTPUTS_PER_PUBLICATION, MIN_OUTPUT_BYTES);
          List<OutputRecord> outputs = new ArrayList<>(count);
          for (int i = 0; i < count; i++) {
            outputs.add(
                new OutputRecord(
                    in.count("shuffleId", Integer.MAX_VALUE),
                    in.delta(),
                    in.count("slabId", Integer.MAX_VALUE),
                    in.length("offset"),
                    in.count("indexLength", Bounds.MAX_INDEX_BYTES),
                    in.fixedLong()));
          }
          return new Publication(executorId, slabs, outputs);
        });
  }

  static byte[] encodeLocate(LocateRequest request) {
    return new MessageWriter(LOCATE)
        .count(request.shuffleId())
        .count(request.fromPosition())
        .toBytes();
  }

  static LocateRequest decodeLocate(byte[] message) throws DirectoryMessageException {
    return decode(
        message,
        LOCATE,
        in ->
            new LocateRequest(
                in.count("shuffleId", Integer.MAX_VALUE),
                in.count("fromPosition", Integer.MAX_VALUE)));
  }

  static byte[] encodePeers(Collection<String> executorIds) {
    MessageWriter out = new MessageWriter(PEERS).count(executorIds.size());
    executorIds.forEach(out::text);
    return out.toBytes();
  }

  static List<String> decodePeers(byte[] message) throws DirectoryMessageException {
    return decode(
        message,
        PEERS,
        in -> {
          int count = in.elements("peers", Bounds.MAX_PEERS_PER_REQUEST, 1);
          List<String> ids = new ArrayList<>(count);
          for (int i = 0; i < count; i++) {
            ids.add(in.text("executorId", Bounds.MAX_NAME_BYTES));
          }
          return ids;
        });
  }

  /** Shuffles of which an executor holds outputs. */
  static byte[] encodeHeld(Collection<Integer> shuffleIds) {
    return encodeShuffles(HELD, shuffleIds);
  }

  static List<Integer> decodeHeld(byte[] message) throws DirectoryMessageException {
    return decodeShuffles(HELD, message);
  }

  /** Those of them that the driver has dropped. */
  static byte[] encodeDropped(Collection<Integer> shuffleIds) {
    return encodeShuffles(DROPPED, shuffleIds);
  }

  static List<Integer> decodeDropped(byte[] message) throws DirectoryMessageException {
    return decodeShuffles(DROPPED, message);
  }

  private static byte[] encodeShuffles(byte type, Collection<Integer> shuffleIds) {
    MessageWriter out = new MessageWriter(type).count(shuffleIds.size());
    shuffleIds.forEach(out::count);
    return out.toBytes();
  }

  private static List<Integer> decodeShuffles(byte type, byte[] message)
      throws DirectoryMessageException {
    return decode(
        message,
        type,
        in -> {
          int count = in.elements("shuffles", Bounds.MAX_SHUFFLES_PER_REQUEST, 1);
          List<Integer> ids = new ArrayList<>(count);
          for (int i = 0; i < count; i++) {
            ids.add(in.count("shuffleId", Integer.MAX_VALUE));
          }
          return ids;
        });
  }

  static byte[] encodeReport(Report report) {
    MessageWriter out =
        new MessageWriter(REPORT)
            .text(report.executorId())
            .length(report.sequence())
            .count(report.counters().size());
    report.counters().forEach((name, value) -> out.text(name).delta(value));
    return out.toBytes();
  }

  static Report decodeReport(byte[] message) throws DirectoryMessageException {
    return decode(
        message,
        REPORT,
        in -> {
          String executorId = in.text("executorId", Bounds.MAX_NAME_BYTES);
          long sequence = in.length("sequence");
          int count = in.elements("counters", Bounds.MAX_COUNTERS, MIN_NAMED_BYTES);
          Map<String, Long> counters = new TreeMap<>();
          for (int i = 0; i < count; i++) {
            counters.put(in.text("counter name", Bounds.MAX_COUNTER_NAME_BYTES), in.delta());
          }
          return new Report(executorId, sequence, counters);
        });
  }

  static byte[] acknowledged() {
    return new MessageWriter(ACKNOWLEDGED).toBytes();
  }

  static byte[] noShuffle() {
    return new MessageWriter(NO_SHUFFLE).toBytes();
  }

  static byte[] encodeFailed(DirectoryException failure) {
    return new MessageWriter(FAILED)
        .count(FAILURES.indexOf(failure.reason()))
        .cutText(String.valueOf(failure.getMessage()), Bounds.MAX_TEXT_BYTES)
        .toBytes();
  }

  static DirectoryException decodeFailed(byte[] message) throws DirectoryMessageException {
    return decode(
        message,
        FAILED,
        in -> {
          Reason reason = FAILURES.get(in.count("reason", FAILURES.size() - 1));
          return new DirectoryException(
              reason, "driver: " + in.text("text", Bounds.MAX_TEXT_BYTES));
        });
  }

  static void decodeAcknowledged(byte[] message) throws DirectoryMessageException {
    new MessageReader(message).expect(ACKNOWLEDGED).end();
  }

  /**
   * Entries in the order of the log. Map ids and generations of neighbours are close, so they go as
   * differences.
   */
  static byte[] encodePage(LocatePage page) {
    MessageWriter out = new MessageWriter(PAGE, 64 + page.count() * 24);
    out.count(page.nextPosition()).flag(page.more()).count(page.executors().size());
    for (ExecutorMention executor : page.executors()) {
      out.count(executor.index()).text(executor.executorId()).length(executor.version());
    }
    out.count(page.count());
    long mapTaskId = 0;
    long generation = 0;
    for (int i = 0; i < page.count(); i++) {
      out.count(page.executor(i))
          .count(page.slabId(i))
          .length(page.offset(i))
          .count(page.indexLength(i))
          .delta(page.mapTaskId(i) - mapTaskId)
          .delta(page.generation(i) - generation);
      mapTaskId = page.mapTaskId(i);
      generation = page.generation(i);
    }
    return out.toBytes();
  }

  /** The page, or empty when the driver does not know the shuffle. */
  static Optional<LocatePage> decodePage(byte[] message) throws DirectoryMessageException {
    MessageReader header = new MessageReader(message);
    if (header.type() == NO_SHUFFLE) {
      header.end();
      return Optional.empty();
    }
    return Optional.of(decode(message, PAGE, Messages::readPage));
  }

  private static LocatePage readPage(MessageReader in) throws DirectoryMessageException {
    int nextPosition = in.count("nextPosition", Integer.MAX_VALUE);
    boolean more = in.flag();
    int executorCount =
        in.elements("executors", Bounds.MAX_EXECUTORS_PER_MESSAGE, MIN_MENTION_BYTES);
    List<ExecutorMention> executors = new ArrayList<>(executorCount);
    for (int i = 0; i < executorCount; i++) {
      int index = in.count("executor index", Integer.MAX_VALUE);
      String executorId = in.text("executorId", Bounds.MAX_NAME_BYTES);
      executors.add(new ExecutorMention(index, executorId, in.length("version")));
    }
    int count = in.elements("entries", Bounds.MAX_PAGE_ENTRIES, MIN_ENTRY_BYTES);
    long[] words = new long[count * OutputLog.WORDS];
    long mapTaskId = 0;
    long generation = 0;
    for (int i = 0; i < count; i++) {
      int word = i * OutputLog.WORDS;
      int executor = in.count("executor", executorCount - 1);
      int slabId = in.count("slabId", Integer.MAX_VALUE);
      words[word + OutputLog.EXECUTOR_AND_SLAB] = OutputLog.pack(executor, slabId);
      words[word + OutputLog.OFFSET] = in.length("offset");
      int indexLength = in.count("indexLength", Bounds.MAX_INDEX_BYTES);
      Bounds.check(indexLength > 0, "indexLength=0");
      words[word + OutputLog.INDEX_LENGTH] = indexLength;
      mapTaskId += in.delta();
      generation += in.delta();
      words[word + OutputLog.MAP_TASK_ID] = mapTaskId;
      words[word + OutputLog.GENERATION] = generation;
    }
    return new LocatePage(words, count, nextPosition, more, executors);
  }

  /**
   * Answers to the first of the executors asked for, in their order; an empty one says that the
   * executor is unknown.
   */
  static byte[] encodePeersAnswer(Collection<Optional<PeerRecord>> answers) {
    MessageWriter out = new MessageWriter(PEERS_ANSWER).count(answers.size());
    for (Optional<PeerRecord> answer : answers) {
      out.flag(answer.isPresent());
      if (answer.isPresent()) {
        out.length(answer.get().version());
        writeExecutor(out, answer.get().executor());
      }
    }
    return out.toBytes();
  }

  static List<Optional<PeerRecord>> decodePeersAnswer(byte[] message)
      throws DirectoryMessageException {
    return decode(
        message,
        PEERS_ANSWER,
        in -> {
          int count = in.elements("answers", Bounds.MAX_PEERS_PER_REQUEST, 1);
          List<Optional<PeerRecord>> answers = new ArrayList<>(count);
          for (int i = 0; i < count; i++) {
            answers.add(in.flag() ? Optional.of(readPeer(in)) : Optional.empty());
          }
          return answers;
        });
  }

  private static PeerRecord readPeer(MessageReader in) throws DirectoryMessageException {
    long version = in.length("version");
    return new PeerRecord(readExecutor(in), version);
  }

  private static void writeExecutor(MessageWriter out, ExecutorRecord executor) {
    out.text(executor.executorId()).text(executor.host()).bytes(executor.token());
    out.count(executor.transports().size());
    for (String transport : executor.transports()) {
      out.text(transport).bytes(executor.endpoint(transport));
    }
    writeSlabs(out, executor.slabs());
  }

  private static ExecutorRecord readExecutor(MessageReader in) throws DirectoryMessageException {
    String executorId = in.text("executorId", Bounds.MAX_NAME_BYTES);
    String host = in.text("host", Bounds.MAX_NAME_BYTES);
    byte[] token = in.bytes("token", PeerIdentity.TOKEN_LENGTH);
    int count = in.elements("transports", Bounds.MAX_TRANSPORTS, MIN_NAMED_BYTES);
    Map<String, byte[]> endpoints = new TreeMap<>();
    for (int i = 0; i < count; i++) {
      String transport = in.text("transport", Bounds.MAX_TRANSPORT_NAME_BYTES);
      endpoints.put(transport, in.bytes("endpoint", Bounds.MAX_ENDPOINT_BYTES));
    }
    return new ExecutorRecord(executorId, host, token, endpoints, readSlabs(in));
  }

  private static void writeSlabs(MessageWriter out, Collection<SlabRecord> slabs) {
    out.count(slabs.size());
    for (SlabRecord slab : slabs) {
      out.count(slab.slabId()).length(slab.length()).count(slab.keys().size());
      slab.keys()
          .forEach(
              (transport, key) ->
                  out.text(transport).fixedLong(key.remoteAddress()).fixedInt(key.remoteKey()));
    }
  }

  private static List<SlabRecord> readSlabs(MessageReader in) throws DirectoryMessageException {
    int count = in.elements("slabs", Bounds.MAX_SLABS, MIN_SLAB_BYTES);
    List<SlabRecord> slabs = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      int slabId = in.count("slabId", Integer.MAX_VALUE);
      long length = in.length("slab length");
      int keyCount = in.elements("slab keys", Bounds.MAX_TRANSPORTS, MIN_NAMED_BYTES);
      Map<String, SlabKey> keys = new TreeMap<>();
      for (int k = 0; k < keyCount; k++) {
        String transport = in.text("transport", Bounds.MAX_TRANSPORT_NAME_BYTES);
        keys.put(transport, new SlabKey(in.fixedLong(), in.fixedInt()));
      }
      slabs.add(new SlabRecord(slabId, length, keys));
    }
    return slabs;
  }
}
