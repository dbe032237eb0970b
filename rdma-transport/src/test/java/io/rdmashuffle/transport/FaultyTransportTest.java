package io.rdmashuffle.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.transport.sharedmemory.SharedMemoryTransport;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class FaultyTransportTest {
  private static final int SLAB_LENGTH = 64 * 1024;
  private static final int DATA = SlabMemory.HEADER_LENGTH;

  private final PeerIdentity identity = AbstractTransportContractTest.identity("owner", 1);
  private TransportNode node;
  private RegisteredSlab source;
  private RegisteredSlab target;

  @AfterEach
  void close() throws Exception {
    node.close();
    TransportCounters counters = node.transport().counters();
    assertEquals(0, counters.openConnections.sum());
    assertEquals(0, counters.peerResources.sum());
  }

  @Test
  void errorFailsItsBatchAndFlushesAllLaterOnes() throws Exception {
    open(FixedFault.onRead(3, Fault.ERROR));
    Connection connection = connect();
    List<FailureKind> kinds = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      kinds.add(read(connection, 10_000).awaitKind());
    }
    assertEquals(null, kinds.get(0));
    assertEquals(null, kinds.get(1));
    assertEquals(
        List.of(FailureKind.READ_FAILED, FailureKind.CLOSED, FailureKind.CLOSED),
        kinds.subList(2, 5));
    assertFalse(connection.isOpen());
    assertNull(read(connect(), 10_000).await(), "once");
  }

  @Test
  void lateBatchHoldsUpTheOnesBehindIt() throws Exception {
    open(FixedFault.onRead(1, Fault.LATE));
    Connection connection = connect();
    long startNs = System.nanoTime();
    Outcome late = read(connection, 10_000);
    Outcome behind = read(connection, 10_000);
    assertFalse(late.isDone());
    assertFalse(behind.isDone());
    assertNull(late.await());
    assertNull(behind.await());
    assertTrue(System.nanoTime() - startNs >= TimeUnit.MILLISECONDS.toNanos(100));
  }

  @Test
  void tooLateBatchTimesOutAtItsDeadline() throws Exception {
    open(FixedFault.onRead(1, Fault.LATE));
    assertTimesOutAfter(50);
  }

  @Test
  void missingCompletionTimesOutAtItsDeadline() throws Exception {
    open(FixedFault.onRead(1, Fault.MISSING));
    assertTimesOutAfter(200);
  }

  @Test
  void closeEndsWhatIsMissing() throws Exception {
    open(FixedFault.onRead(1, Fault.MISSING));
    Connection connection = connect();
    Outcome missing = read(connection, 10_000);
    Outcome behind = read(connection, 10_000);
    connection.close();
    assertEquals(FailureKind.CLOSED, missing.awaitKind());
    assertEquals(FailureKind.CLOSED, behind.awaitKind());
    assertEquals(1, missing.calls());
  }

  @Test
  void corruptReadDiffersInOneBit() throws Exception {
    open(FixedFault.onRead(1, Fault.CORRUPT));
    Connection connection = connect();
    assertNull(read(connection, 10_000).await());
    byte right = source.slab().buffer().get(DATA);
    byte wrong = target.slab().buffer().get(DATA);
    assertEquals(1, Integer.bitCount((right ^ wrong) & 0xff));
    assertNull(read(connection, 10_000).await());
    assertEquals(right, target.slab().buffer().get(DATA));
  }

  @Test
  void connectIsRejectedOnceThenWorks() throws Exception {
    open(FixedFault.onConnect(1, Fault.ERROR));
    assertEquals(FailureKind.CONNECT_REJECTED, connectFailure(1000));
    assertNull(read(connect(), 10_000).await());
  }

  @Test
  void connectThatNeverCompletesTimesOutAtItsDeadline() throws Exception {
    open(FixedFault.onConnect(1, Fault.MISSING));
    long startNs = System.nanoTime();
    assertEquals(FailureKind.CONNECT_TIMEOUT, connectFailure(100));
    assertTrue(System.nanoTime() - startNs >= TimeUnit.MILLISECONDS.toNanos(100));
  }

  @Test
  void lateConnectWorks() throws Exception {
    open(FixedFault.onConnect(1, Fault.LATE));
    assertNull(read(connect(), 10_000).await());
  }

  @Test
  void registrationFails() throws Exception {
    TransportException failure =
        assertThrows(TransportException.class, () -> open(FixedFault.onRegister(1, Fault.ERROR)));
    assertEquals(FailureKind.QP_SETUP_FAILED, failure.kind());
  }

  @Test
  void peerFaultIsSwitchedOnAndOff() throws Exception {
    PeerFault faults = new PeerFault();
    open(faults);
    assertNull(read(connect(), 10_000).await());
    faults.set("owner", Fault.ERROR);
    assertEquals(FailureKind.CONNECT_REJECTED, connectFailure(1000));
    faults.heal("owner").setReads("owner", Fault.ERROR);
    assertEquals(FailureKind.READ_FAILED, read(connect(), 10_000).awaitKind());
    faults.heal("owner");
    assertNull(read(connect(), 10_000).await());
  }

  @Test
  void sameSeedGivesTheSameFaults() throws Exception {
    List<Fault> first = draw(RandomFault.ofReads(0.3, 42, Fault.ERROR, Fault.LATE));
    assertEquals(first, draw(RandomFault.ofReads(0.3, 42, Fault.ERROR, Fault.LATE)));
    assertNotEquals(first, draw(RandomFault.ofReads(0.3, 43, Fault.ERROR, Fault.LATE)));
    open(RandomFault.ofReads(1, 4711, Fault.ERROR));
    assertTrue(read(connect(), 1000).await().getMessage().contains("seed=4711"));
  }

  @Test
  void everyBatchEndsOnceUnderRandomFaults() throws Exception {
    open(
        RandomFault.ofReads(0.05, 7, Fault.ERROR, Fault.MISSING, Fault.LATE)
            .and(RandomFault.ofConnects(0.2, 8, Fault.ERROR, Fault.LATE)));
    List<Outcome> outcomes = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      Connection connection;
      try {
        connection = connect();
      } catch (ExecutionException e) {
        continue;
      }
      for (int k = 0; k < 20; k++) {
        outcomes.add(read(connection, 150));
      }
    }
    for (Outcome outcome : outcomes) {
      outcome.await();
      assertEquals(1, outcome.calls());
    }
  }

  private void open(FaultGenerator faults) throws Exception {
    SlabFactory slabs = SlabFactories.open(Path.of("/dev/shm"), identity);
    node =
        new TransportNode(
            identity,
            new FaultyTransport(SharedMemoryTransport.open(identity, slabs.shareable()), faults),
            slabs);
    source = node.addFilledSlab(SLAB_LENGTH, 1);
    target = node.addSlab(SLAB_LENGTH, Access.LOCAL_WRITE);
  }

  private Connection connect() throws Exception {
    return node.transport()
        .connect(node.transport().localEndpoint(), identity, Deadline.after(Duration.ofSeconds(10)))
        .get(20, TimeUnit.SECONDS);
  }

  private FailureKind connectFailure(long timeoutMs) {
    Deadline deadline = Deadline.after(Duration.ofMillis(timeoutMs));
    byte[] endpoint = node.transport().localEndpoint();
    ExecutionException failure =
        assertThrows(
            ExecutionException.class,
            () -> node.transport().connect(endpoint, identity, deadline).get(20, TimeUnit.SECONDS));
    return assertInstanceOf(TransportException.class, failure.getCause()).kind();
  }

  private Outcome read(Connection connection, long timeoutMs) {
    ReadBatch batch = new ReadBatch(1).reset(Deadline.after(Duration.ofMillis(timeoutMs)));
    batch.add(source.remoteAddress() + DATA, source.remoteKey(), 1000, target, DATA);
    Outcome outcome = new Outcome();
    assertTrue(connection.offer(batch, outcome));
    return outcome;
  }

  private void assertTimesOutAfter(long timeoutMs) throws Exception {
    Connection connection = connect();
    long startNs = System.nanoTime();
    Outcome missing = read(connection, timeoutMs);
    Outcome behind = read(connection, 10_000);
    assertEquals(FailureKind.READ_TIMEOUT, missing.awaitKind());
    long elapsedMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNs);
    assertTrue(elapsedMs >= timeoutMs - 1 && elapsedMs < timeoutMs + 2000, elapsedMs + " ms");
    assertEquals(FailureKind.CLOSED, behind.awaitKind());
    assertFalse(connection.isOpen());
  }

  private List<Fault> draw(FaultGenerator faults) {
    List<Fault> drawn = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      drawn.add(faults.onRead(identity, 0, 1));
    }
    return drawn;
  }
}
