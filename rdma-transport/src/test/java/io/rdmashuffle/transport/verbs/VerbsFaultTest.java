package io.rdmashuffle.transport.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rdmashuffle.transport.Access;
import io.rdmashuffle.transport.Availability;
import io.rdmashuffle.transport.Connection;
import io.rdmashuffle.transport.Deadline;
import io.rdmashuffle.transport.FailureKind;
import io.rdmashuffle.transport.Outcome;
import io.rdmashuffle.transport.ReadBatch;
import io.rdmashuffle.transport.RegisteredSlab;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportNode;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What goes wrong between two transports on one soft-RoCE device. */
@Tag("rxe")
@Timeout(600)
final class VerbsFaultTest {
  private static final int DATA = VerbsNodes.DATA;

  private final VerbsNodes nodes = new VerbsNodes();
  private TransportNode owner;
  private TransportNode reader;
  private RegisteredSlab source;
  private RegisteredSlab target;

  @BeforeEach
  void openNodes() throws Exception {
    owner = nodes.open("owner");
    reader = nodes.open("reader");
    source = owner.addFilledSlab(VerbsNodes.SLAB_LENGTH, 1);
    target = reader.addSlab(VerbsNodes.SLAB_LENGTH, Access.LOCAL_WRITE);
  }

  @AfterEach
  void closeNodes() throws Exception {
    nodes.close();
  }

  @Test
  void strangersAreTurnedAwayAndTheListenerServesOn() throws Exception {
    byte[] endpoint = owner.transport().localEndpoint();
    byte[] genuine = Handshake.request(owner.identity(), new byte[Handshake.NONCE_LENGTH]);
    assertTrue(Inside.knock(endpoint, new byte[0]).contains("REJECTED"));
    for (int length : new int[] {1, 4, 43, 44, 56}) {
      byte[] noise = new byte[length];
      new Random(length).nextBytes(noise);
      assertEquals("NOT_OURS", reason(Inside.knock(endpoint, noise)));
    }
    byte[] forged = genuine.clone();
    forged[forged.length - 1] ^= 1;
    assertEquals("WRONG_PROOF", reason(Inside.knock(endpoint, forged)));
    assertEquals(0, owner.transport().counters().peerResources.sum(), "no queue pair for them");
    assertNull(VerbsNodes.read(VerbsNodes.connect(reader, owner), source, target, 4, 1000));
  }

  @Test
  void aPeerThatIsNotListeningIsReportedAtOnce() throws Exception {
    VerbsEndpoint place = VerbsEndpoint.decode(owner.transport().localEndpoint());
    byte[] nobody =
        new VerbsEndpoint(place.fabric(), place.address(), 999, place.device()).encode();
    long startNs = System.nanoTime();
    TransportException failure =
        VerbsNodes.connectFails(reader, nobody, owner.identity(), VerbsNodes.soon());
    assertEquals(FailureKind.CONNECT_REJECTED, failure.kind());
    assertTrue(failure.getMessage().contains("nothing listens there"), failure.getMessage());
    assertTrue(System.nanoTime() - startNs < TimeUnit.SECONDS.toNanos(20));
  }

  @Test
  void anAddressThatNobodyHasEndsByTheDeadline() throws Exception {
    VerbsEndpoint place = VerbsEndpoint.decode(owner.transport().localEndpoint());
    for (String address : new String[] {"10.77.0.99", "192.0.2.1"}) {
      byte[] endpoint =
          new VerbsEndpoint(place.fabric(), InetAddress.getByName(address), 999, "x").encode();
      Deadline deadline = Deadline.after(Duration.ofSeconds(2));
      TransportException failure =
          VerbsNodes.connectFails(reader, endpoint, owner.identity(), deadline);
      assertTrue(
          VerbsNodes.isKind(failure, FailureKind.CONNECT_REJECTED, FailureKind.CONNECT_TIMEOUT),
          failure.toString());
      assertTrue(failure.getMessage().contains(address), failure.getMessage());
    }
    assertEquals(0, reader.transport().counters().peerResources.sum());
  }

  @Test
  void aWrongKeyIsReportedOnceWithStatusOperationAndPeer() throws Exception {
    Connection connection = VerbsNodes.connect(reader, owner);
    ReadBatch wrong = new ReadBatch(1).reset(VerbsNodes.soon());
    wrong.add(source.remoteAddress() + DATA, source.remoteKey() ^ 0x5555, 100, target, DATA);
    Outcome first = new Outcome();
    List<Outcome> later = new ArrayList<>();
    assertTrue(connection.offer(wrong, first));
    for (int i = 0; i < 5; i++) {
      Outcome outcome = new Outcome();
      if (connection.offer(VerbsNodes.batch(source, target, 1, 100, VerbsNodes.soon()), outcome)) {
        later.add(outcome);
      }
    }
    String message = first.await().getMessage();
    assertEquals(FailureKind.READ_FAILED, first.awaitKind());
    String place = VerbsEndpoint.decode(owner.transport().localEndpoint()).toString();
    for (String part : new String[] {"remote access error", "RDMA READ", "executor owner", place}) {
      assertTrue(message.contains(part), message);
    }
    later.forEach(outcome -> assertEquals(FailureKind.CLOSED, outcome.awaitKind()));
    assertFalse(connection.isOpen());
    assertNull(VerbsNodes.read(VerbsNodes.connect(reader, owner), source, target, 1, 100));
  }

  @Test
  void aPeerThatClosesInTheMiddleEndsEveryBatch() throws Exception {
    TransportNode leaver = nodes.open("leaver");
    RegisteredSlab theirs = leaver.addFilledSlab(VerbsNodes.SLAB_LENGTH, 2);
    Connection connection = VerbsNodes.connect(reader, leaver);
    List<Outcome> outcomes = new ArrayList<>();
    CompletableFuture<Void> leaving =
        CompletableFuture.runAsync(
            () -> {
              try {
                Thread.sleep(30);
                leaver.close();
              } catch (Exception e) {
                throw new IllegalStateException(e);
              }
            });
    while (connection.isOpen()) {
      Outcome outcome = new Outcome();
      ReadBatch batch = VerbsNodes.batch(theirs, target, 8, 8192, VerbsNodes.soon());
      if (connection.offer(batch, outcome)) {
        outcomes.add(outcome);
      } else {
        Thread.sleep(1);
      }
    }
    leaving.get(30, TimeUnit.SECONDS);
    FailureKind last = null;
    for (Outcome outcome : outcomes) { // successes, one cause, then what was behind it
      FailureKind kind = outcome.awaitKind();
      assertTrue(last == null ? kind != FailureKind.READ_TIMEOUT : kind == FailureKind.CLOSED);
      last = kind;
      assertEquals(1, outcome.calls());
    }
    assertFalse(connection.isOpen());
  }

  @Test
  void shallowQueuePairsStillCarryTheLargestBatch() throws Exception {
    TransportNode scarce =
        nodes.add("scarce", Inside.openScarce(VerbsNodes.identity("scarce"), VerbsNodes.conf(), 5));
    RegisteredSlab landing = scarce.addSlab(VerbsNodes.SLAB_LENGTH, Access.LOCAL_WRITE);
    Connection connection = VerbsNodes.connect(scarce, owner);
    int pieces = scarce.transport().maxBatchSize();
    for (int round = 0; round < 3; round++) {
      assertNull(VerbsNodes.read(connection, source, landing, pieces, 100));
    }
    assertEquals(
        -1,
        source
            .slab()
            .buffer()
            .slice(DATA, pieces * 100)
            .mismatch(landing.slab().buffer().slice(DATA, pieces * 100)));
  }

  @Test
  void noQueuePairAtAllIsAFailureOfTheConnectAlone() throws Exception {
    TransportNode scarce =
        nodes.add("scarce", Inside.openScarce(VerbsNodes.identity("scarce"), VerbsNodes.conf(), 0));
    TransportException failure =
        VerbsNodes.connectFails(
            scarce, owner.transport().localEndpoint(), owner.identity(), VerbsNodes.soon());
    assertEquals(FailureKind.QP_SETUP_FAILED, failure.kind());
    assertEquals(0, scarce.transport().counters().peerResources.sum());
    failure =
        VerbsNodes.connectFails(
            reader, scarce.transport().localEndpoint(), scarce.identity(), VerbsNodes.soon());
    assertEquals(FailureKind.CONNECT_REJECTED, failure.kind());
    assertTrue(failure.getMessage().contains("could not create a queue pair"));
  }

  @Test
  void bothSidesConnectAtOnce() throws Exception {
    List<CompletableFuture<Connection>> futures = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      futures.add(
          reader
              .transport()
              .connect(owner.transport().localEndpoint(), owner.identity(), VerbsNodes.soon()));
      futures.add(
          owner
              .transport()
              .connect(reader.transport().localEndpoint(), reader.identity(), VerbsNodes.soon()));
    }
    for (CompletableFuture<Connection> future : futures) {
      assertTrue(future.get(40, TimeUnit.SECONDS).isOpen());
    }
    assertEquals(20, reader.transport().counters().peerResources.sum());
  }

  @Test
  void manyConnectionsReadAndLeaveNothing() throws Exception {
    List<CompletableFuture<Connection>> futures = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      futures.add(
          reader
              .transport()
              .connect(owner.transport().localEndpoint(), owner.identity(), VerbsNodes.soon()));
    }
    List<Outcome> outcomes = new ArrayList<>();
    for (CompletableFuture<Connection> future : futures) {
      Outcome outcome = new Outcome();
      outcomes.add(outcome);
      future
          .get(60, TimeUnit.SECONDS)
          .offer(VerbsNodes.batch(source, target, 3, 500, VerbsNodes.soon()), outcome);
    }
    outcomes.forEach(outcome -> assertNull(outcome.await()));
    nodes.close();
    for (TransportNode node : List.of(owner, reader)) {
      assertEquals(0, node.transport().counters().peerResources.sum());
      assertEquals(0, node.transport().counters().openConnections.sum());
    }
    assertEquals(List.of(), deviceObjectsOfThisProcess());
  }

  @Test
  void theBoundOnInboundConnectionsHolds() throws Exception {
    TransportNode small = nodes.open("small", "maxConnections", "2");
    VerbsNodes.connect(reader, small);
    Connection second = VerbsNodes.connect(reader, small);
    TransportException failure =
        VerbsNodes.connectFails(
            reader, small.transport().localEndpoint(), small.identity(), VerbsNodes.soon());
    assertTrue(failure.getMessage().contains("as many connections"), failure.getMessage());
    second.close();
    Deadline deadline = VerbsNodes.soon();
    while (small.transport().counters().peerResources.sum() > 1 && !deadline.isOver()) {
      Thread.sleep(10);
    }
    assertTrue(VerbsNodes.connect(reader, small).isOpen(), "room was made");
  }

  @Test
  void readsOverIpv6() throws Exception {
    TransportNode six = nodes.openAnyhow("six", "device", "fd00:77::/64");
    TransportNode other = nodes.openAnyhow("other", "device", "fd00:77::1");
    Availability availability = six.transport().availability();
    assumeTrue(availability.isAvailable(), availability.cause());
    RegisteredSlab theirs = six.addFilledSlab(VerbsNodes.SLAB_LENGTH, 6);
    RegisteredSlab landing = other.addSlab(VerbsNodes.SLAB_LENGTH, Access.LOCAL_WRITE);
    assertNull(VerbsNodes.read(VerbsNodes.connect(other, six), theirs, landing, 4, 1000));
    TransportException failure =
        VerbsNodes.connectFails(
            reader, six.transport().localEndpoint(), six.identity(), VerbsNodes.soon());
    assertEquals(FailureKind.CONNECT_REJECTED, failure.kind());
  }

  @Test
  void whatTheSettingsAskForInVainIsListedWithEveryCandidate() {
    String[][] settings = {{"device", "mlx5_7"}, {"device", "10.99.0.0/16"}, {"gidIndex", "200"}};
    for (String[] setting : settings) {
      Availability availability = nodes.openAnyhow("x", setting).transport().availability();
      assertEquals(FailureKind.NO_DEVICE, availability.failureKind());
      for (String part : new String[] {"rxe0 port 1", "10.77.0.1", setting[0] + "=" + setting[1]}) {
        assertTrue(availability.cause().contains(part), availability.cause());
      }
    }
  }

  @Test
  void aRangeOfPortsThatIsUsedUpSaysSo() {
    TransportNode one = nodes.open("one", "port", "47811-47812");
    TransportNode two = nodes.open("two", "port", "47811-47812");
    assertTrue(one.transport().availability().cause().contains(":4781"));
    assertTrue(two.transport().availability().isAvailable());
    Availability third = nodes.openAnyhow("3", "port", "47811-47812").transport().availability();
    assertEquals(FailureKind.NO_DEVICE, third.failureKind());
    assertTrue(third.cause().contains("widen the range"), third.cause());
  }

  @Test
  void thePollerAllocatesNothingInSteadyState() throws Exception {
    Connection connection = VerbsNodes.connect(reader, owner);
    ReadBatch batch = new ReadBatch(2);
    Outcome outcome = new Outcome();
    for (int i = 0; i < 300; i++) {
      readAgain(connection, batch, outcome);
    }
    long before = allocatedByTransportThreads();
    for (int i = 0; i < 500; i++) {
      readAgain(connection, batch, outcome);
    }
    assertEquals(0, allocatedByTransportThreads() - before);
  }

  private void readAgain(Connection connection, ReadBatch batch, Outcome outcome) {
    batch.reset(VerbsNodes.soon());
    batch.add(source.remoteAddress() + DATA, source.remoteKey(), 64, target, DATA);
    batch.add(source.remoteAddress(), source.remoteKey(), 8, target, 0);
    outcome.reset();
    assertTrue(connection.offer(batch, outcome));
    assertNull(outcome.await());
  }

  private static long allocatedByTransportThreads() {
    com.sun.management.ThreadMXBean threads =
        (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    long total = 0;
    for (Thread thread : Thread.getAllStackTraces().keySet()) {
      if (thread.getName().startsWith("rdma-")) {
        total += threads.getThreadAllocatedBytes(thread.getId());
      }
    }
    return total;
  }

  private static String reason(String answer) {
    return answer.substring(answer.lastIndexOf(' ') + 1);
  }

  /** Queue pairs, memory regions, queues and ids that the kernel holds for this process. */
  static List<String> deviceObjectsOfThisProcess() throws Exception {
    List<String> found = new ArrayList<>();
    String own = "pid " + ProcessHandle.current().pid() + " ";
    for (String kind : new String[] {"qp", "cm_id", "cq", "mr", "pd"}) {
      Process process = new ProcessBuilder("rdma", "resource", "show", kind).start();
      String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
      Arrays.stream(text.split("\n", -1)).filter(line -> line.contains(own)).forEach(found::add);
    }
    return found;
  }
}
