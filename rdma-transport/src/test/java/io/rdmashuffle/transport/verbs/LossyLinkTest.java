package io.rdmashuffle.transport.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.transport.Access;
import io.rdmashuffle.transport.Connection;
import io.rdmashuffle.transport.Deadline;
import io.rdmashuffle.transport.FailureKind;
import io.rdmashuffle.transport.Outcome;
import io.rdmashuffle.transport.RegisteredSlab;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportNode;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Two soft-RoCE devices with a real link between them that fails. */
@Tag("rxe")
@Timeout(600)
final class LossyLinkTest {
  private final VerbsNodes nodes = new VerbsNodes();
  private TransportNode owner;
  private TransportNode reader;
  private RegisteredSlab source;
  private RegisteredSlab target;

  @BeforeEach
  void openNodes() throws Exception {
    owner = nodes.open("owner", "device", "rxva", "ackTimeout", "14");
    reader = nodes.open("reader", "device", "rxvb", "ackTimeout", "14");
    source = owner.addFilledSlab(VerbsNodes.SLAB_LENGTH, 1);
    target = reader.addSlab(VerbsNodes.SLAB_LENGTH, Access.LOCAL_WRITE);
  }

  @AfterEach
  void closeNodes() throws Exception {
    run("tc", "qdisc", "del", "dev", "va", "root");
    run("ip", "link", "set", "va", "up");
    nodes.close();
  }

  @Test
  void readsAcrossTheLinkAndThroughLoss() throws Exception {
    Connection connection = VerbsNodes.connect(reader, owner);
    assertNull(VerbsNodes.read(connection, source, target, 16, 10_000));
    assertEquals(0, run("tc", "qdisc", "add", "dev", "va", "root", "netem", "loss", "2%"));
    for (int i = 0; i < 20; i++) {
      assertNull(VerbsNodes.read(connection, source, target, 16, 10_000));
    }
    assertEquals(
        -1,
        source
            .slab()
            .buffer()
            .slice(VerbsNodes.DATA, 160_000)
            .mismatch(target.slab().buffer().slice(VerbsNodes.DATA, 160_000)));
  }

  @Test
  void aSilentLinkEndsTheReadByItsDeadlineAndNothingIsWrittenLater() throws Exception {
    Connection connection = VerbsNodes.connect(reader, owner);
    assertNull(VerbsNodes.read(connection, source, target, 1, 100));
    assertEquals(0, run("tc", "qdisc", "add", "dev", "va", "root", "netem", "loss", "100%"));
    Outcome outcome = new Outcome();
    Deadline deadline = Deadline.after(Duration.ofMillis(300));
    long startNs = System.nanoTime();
    assertTrue(connection.offer(VerbsNodes.batch(source, target, 8, 10_000, deadline), outcome));
    TransportException failure = outcome.await();
    assertTrue(
        VerbsNodes.isKind(failure, FailureKind.READ_TIMEOUT, FailureKind.READ_FAILED),
        String.valueOf(failure));
    assertTrue(System.nanoTime() - startNs < TimeUnit.SECONDS.toNanos(10));
    byte[] before = new byte[80_000];
    target.slab().buffer().put(VerbsNodes.DATA, before);
    assertEquals(0, run("tc", "qdisc", "del", "dev", "va", "root"));
    Thread.sleep(1000);
    byte[] after = new byte[80_000];
    target.slab().buffer().get(VerbsNodes.DATA, after);
    assertEquals(-1, java.util.Arrays.mismatch(before, after));
    assertNull(
        VerbsNodes.read(VerbsNodes.connect(reader, owner), source, target, 1, 100),
        "a new connection works");
  }

  @Test
  void aLinkThatIsDownFailsReadsAndNewTransportsSayWhy() throws Exception {
    Connection connection = VerbsNodes.connect(reader, owner);
    assertEquals(0, run("ip", "link", "set", "va", "down"));
    Outcome outcome = new Outcome();
    Deadline deadline = Deadline.after(Duration.ofSeconds(2));
    assertTrue(connection.offer(VerbsNodes.batch(source, target, 1, 100, deadline), outcome));
    assertNotEquals(null, outcome.awaitKind());
    TransportNode late = nodes.openAnyhow("late", "device", "rxva");
    assertEquals(FailureKind.NO_DEVICE, late.transport().availability().failureKind());
    String cause = late.transport().availability().cause();
    assertTrue(cause.contains("rxva port 1") && cause.contains("DOWN"), cause);
  }

  private static int run(String... command) throws Exception {
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
        .start()
        .waitFor();
  }
}
