package io.rdmashuffle.spark.read;

import io.rdmashuffle.spark.directory.ExecutorRecord;
import io.rdmashuffle.spark.directory.PeerRecord;
import io.rdmashuffle.spark.directory.SlabKey;
import io.rdmashuffle.spark.directory.SlabRecord;
import io.rdmashuffle.store.MapOutput;
import io.rdmashuffle.transport.Deadline;
import io.rdmashuffle.transport.Fault;
import io.rdmashuffle.transport.PeerIdentity;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * A process that reads, fails to read, connects and is refused in many ways, and prints what it can
 * get hold of; {@link SecretsTest} looks through all of it for {@link #SECRETS}.
 */
final class SecretsExercise {
  /** The owner's identity, and that of a stranger. */
  static final List<PeerIdentity> SECRETS =
      List.of(
          TwoExecutors.identity(TwoExecutors.OWNER, 1),
          TwoExecutors.identity("reader", 2),
          TwoExecutors.identity(TwoExecutors.OWNER, 99));

  static final SlabKey KEY = new SlabKey(0x7F5E_C2E7_A000L, 0x5EC2_E7AB);

  private SecretsExercise() {}

  public static void main(String[] arguments) throws Exception {
    ReadHook hook = new ReadHook();
    try (TwoExecutors pair =
        new TwoExecutors(hook, "peer.backoff", "10ms", "peer.maxBackoff", "10ms")) {
      for (int map = 0; map < 8; map++) {
        pair.write(1, map, 100, 200);
      }
      read(pair, 0);
      hook.before(1, () -> pair.store.remove(1, 1));
      read(pair, 1);
      spoil(pair, pair.store.get(1, 2));
      read(pair, 2);
      hook.set((number, length) -> Fault.ERROR);
      read(pair, 3);
      hook.set((number, length) -> Fault.NONE);
      Thread.sleep(20);
      read(pair, 4);
      pair.directory.driver().removeExecutor(TwoExecutors.OWNER);
      pair.register(SECRETS.get(2));
      pair.publish(pair.store.get(1, 5));
      read(pair, 5);
      System.out.println(pair.accounting.snapshot());
      System.out.println(pair.store.pool().slabTable());
      connectAsStranger(pair);
      print(pair);
    }
  }

  private static void read(TwoExecutors pair, int map) {
    pair.fetch("shuffle_1_" + map + "_0", "shuffle_1_" + map + "_1").await();
  }

  private static void spoil(TwoExecutors pair, MapOutput output) {
    ByteBuffer slab = pair.memoryOfSlab(output.location().slabId());
    slab.putInt(output.location().offset() + 4, 99);
  }

  private static void connectAsStranger(TwoExecutors pair) throws Exception {
    try {
      pair.transport
          .connect(pair.ownerEndpoint(), SECRETS.get(2), Deadline.after(Duration.ofSeconds(10)))
          .get(20, TimeUnit.SECONDS);
      throw new AssertionError("connected with a wrong token");
    } catch (ExecutionException e) {
      e.printStackTrace(System.out);
    }
  }

  private static void print(TwoExecutors pair) {
    ExecutorRecord record =
        new ExecutorRecord(
            "9",
            "host",
            SECRETS.get(0).token(),
            Map.of("rdma", SECRETS.get(0).token()),
            List.of(new SlabRecord(0, 4096, Map.of("rdma", KEY))));
    System.out.println(
        record + " " + record.slabs() + " " + KEY + " " + new PeerRecord(record, 1) + SECRETS);
    byte[] refusal = pair.directory.answerHalfOf(record);
    System.out.println(new String(refusal, StandardCharsets.ISO_8859_1));
  }
}
