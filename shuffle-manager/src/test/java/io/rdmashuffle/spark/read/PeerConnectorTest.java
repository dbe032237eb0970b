package io.rdmashuffle.spark.read;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.conf.RdmaShuffleConf;
import io.rdmashuffle.spark.FallbackReason;
import io.rdmashuffle.spark.directory.ExecutorRecord;
import io.rdmashuffle.spark.directory.PeerRecord;
import io.rdmashuffle.spark.read.ManualTransport.ManualConnection;
import io.rdmashuffle.spark.read.PeerConnector.Link;
import io.rdmashuffle.spark.read.PeerConnector.NoLinkException;
import io.rdmashuffle.transport.FailureKind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class PeerConnectorTest {
  private final ManualTransport shm = new ManualTransport("shm");
  private final ManualTransport rdma = new ManualTransport("rdma");
  private final RdmaShuffleConf conf =
      ReaderSide.conf("peer.backoff", "10s", "peer.maxBackoff", "60s");
  private final Readings readings = new Readings(conf, shm, rdma);
  private long nowNs = Long.MAX_VALUE - 5; // wraps soon
  private final PeerConnector connector = connector("shm", "rdma");

  @AfterEach
  void close() {
    readings.close();
  }

  private PeerConnector connector(String... transports) {
    return new PeerConnector(readings.services, record("1", 1, transports), () -> nowNs);
  }

  private static ExecutorRecord record(String executorId, int token, String... transports) {
    Map<String, byte[]> endpoints = new HashMap<>();
    for (String transport : transports) {
      endpoints.put(transport, new byte[] {1});
    }
    return new ExecutorRecord(
        executorId, "host", TwoExecutors.identity(executorId, token).token(), endpoints, List.of());
  }

  private static void want(PeerConnector connector) {
    CompletableFuture<Link> unused = connector.link();
  }

  private static FallbackReason reason(CompletableFuture<Link> link) {
    ExecutionException thrown = assertThrows(ExecutionException.class, link::get);
    return ((NoLinkException) thrown.getCause()).reason();
  }

  private void advance(long seconds) {
    nowNs += TimeUnit.SECONDS.toNanos(seconds);
  }

  @Test
  void requestsThatComeMeanwhileShareOneAttempt() throws Exception {
    List<CompletableFuture<Link>> links = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      links.add(connector.link());
    }
    assertEquals(1, shm.connects.size());
    ManualConnection connection = shm.succeedConnect();
    for (CompletableFuture<Link> link : links) {
      assertSame(connection, link.get().connection());
    }
    assertSame(connection, connector.link().get().connection());
    assertEquals(1, shm.connects.size());
    assertEquals(0, rdma.connects.size());
  }

  @Test
  void triesTransportsInOrder() throws Exception {
    CompletableFuture<Link> link = connector.link();
    shm.failConnect(FailureKind.CONNECT_REJECTED);
    ManualConnection connection = rdma.succeedConnect();
    assertSame(connection, link.get().connection());
    assertSame(rdma, link.get().transport());
    connection.close();
    want(connector);
    assertEquals(2, shm.connects.size(), "what was rejected once is tried again");
  }

  @Test
  void aPeerThatOffersNothingWeHaveSaysSoAndNotThatItIsSwitchedOff() {
    PeerConnector poor = new PeerConnector(readings.services, record("1", 1), () -> nowNs);
    assertEquals(FallbackReason.NO_DEVICE, reason(poor.link()));
    assertEquals(0, shm.connects.size());
  }

  @Test
  void memoryThatCannotBeMappedIsNotTriedAgain() throws Exception {
    want(connector);
    shm.failConnect(FailureKind.NO_SHARED_MEMORY);
    rdma.succeedConnect().close();
    want(connector);
    assertEquals(1, shm.connects.size());
    assertEquals(2, rdma.connects.size());
  }

  @Test
  void aPeerThatNoTransportCanReachIsNotTriedAgain() {
    PeerConnector onlyShm = connector("shm");
    CompletableFuture<Link> link = onlyShm.link();
    shm.failConnect(FailureKind.NO_SHARED_MEMORY);
    assertEquals(FallbackReason.NO_SHARED_MEMORY, reason(link));
    advance(100_000);
    assertEquals(FallbackReason.NO_SHARED_MEMORY, reason(onlyShm.link()));
    assertEquals(1, shm.connects.size());
  }

  @Test
  void aPeerWithoutACommonTransportIsNotTriedAtAll() {
    assertEquals(FallbackReason.NO_DEVICE, reason(connector("other").link()));
  }

  @Test
  void reconnectsOnceAtOnceThenBacksOffForLongerAndLonger() {
    PeerConnector onlyRdma = connector("rdma");
    want(onlyRdma);
    rdma.failConnect(FailureKind.CONNECT_TIMEOUT);
    want(onlyRdma);
    assertEquals(2, rdma.connects.size());
    rdma.failConnect(FailureKind.CONNECT_TIMEOUT);
    int connects = 2;
    for (int seconds : new int[] {10, 20, 40, 60, 60}) {
      advance(seconds - 1);
      assertEquals(FallbackReason.CONNECT_TIMEOUT, reason(onlyRdma.link()));
      assertEquals(connects, rdma.connects.size(), "after " + seconds);
      advance(1);
      want(onlyRdma);
      connects++;
      assertEquals(connects, rdma.connects.size(), "after " + seconds);
      rdma.failConnect(FailureKind.CONNECT_TIMEOUT);
    }
  }

  @Test
  void longBackoffsDoNotOverflow() {
    RdmaShuffleConf longest = ReaderSide.conf("peer.backoff", "1h", "peer.maxBackoff", "1h");
    try (Readings patient = new Readings(longest, rdma)) {
      PeerConnector one = new PeerConnector(patient.services, record("1", 1, "rdma"), () -> nowNs);
      for (int i = 0; i < 100; i++) {
        advance(3600);
        want(one);
        rdma.failConnect(FailureKind.CONNECT_TIMEOUT);
      }
      advance(3599);
      want(one);
      assertEquals(100, rdma.connects.size());
    }
  }

  @Test
  void readFailuresCountUntilAReadSucceeds() throws Exception {
    PeerConnector onlyRdma = connector("rdma");
    for (int i = 0; i < 2; i++) {
      want(onlyRdma);
      ManualConnection connection = rdma.succeedConnect();
      onlyRdma.onReadFailed(connection, FallbackReason.READ_TIMEOUT, "late");
      onlyRdma.onReadFailed(connection, FallbackReason.READ_FAILED, "flushed behind it");
      assertFalse(connection.isOpen());
    }
    assertEquals(FallbackReason.READ_TIMEOUT, reason(onlyRdma.link()));
    advance(10);
    want(onlyRdma);
    ManualConnection connection = rdma.succeedConnect();
    onlyRdma.onReadSucceeded();
    onlyRdma.onReadFailed(connection, FallbackReason.READ_FAILED, "again");
    want(onlyRdma);
    assertEquals(4, rdma.connects.size(), "forgiven, so it reconnects at once");
  }

  @Test
  void aTransportThatThrowsDoesNotHoldUpThePeer() {
    PeerConnector onlyRdma = connector("rdma");
    rdma.thrownByConnect = new IllegalArgumentException("of the test");
    assertEquals(FallbackReason.CONNECT_REJECTED, reason(onlyRdma.link()));
    rdma.thrownByConnect = null;
    want(onlyRdma);
    assertEquals(1, rdma.connects.size());
  }

  @Test
  void aConnectionMadeAfterTheCloseIsClosed() {
    CompletableFuture<Link> link = connector.link();
    connector.close();
    ManualConnection connection = shm.succeedConnect();
    assertFalse(connection.isOpen());
    assertEquals(FallbackReason.READ_FAILED, reason(link));
    assertEquals(FallbackReason.READ_FAILED, reason(connector.link()));
  }

  @Test
  void noFurtherTransportIsTriedAfterTheClose() {
    CompletableFuture<Link> link = connector.link();
    connector.close();
    shm.failConnect(FailureKind.CONNECT_REJECTED);
    assertTrue(link.isCompletedExceptionally());
    assertEquals(0, rdma.connects.size());
  }

  @Test
  void theTableReplacesAPeerThatHasAnotherToken() throws Exception {
    PeerTable table = new PeerTable(readings.services, () -> nowNs);
    Peer first = table.peer(new PeerRecord(record("1", 1, "shm"), 1));
    want(first.connector());
    ManualConnection connection = shm.succeedConnect();
    assertSame(first, table.peer(new PeerRecord(record("1", 1, "shm"), 2)));
    Peer second = table.peer(new PeerRecord(record("1", 2, "shm"), 1));
    assertFalse(connection.isOpen());
    want(second.connector());
    assertEquals(
        List.of(TwoExecutors.identity("1", 1).token()[0], TwoExecutors.identity("1", 2).token()[0]),
        List.of(shm.asked.get(0).token()[0], shm.asked.get(1).token()[0]));
    assertEquals(1, table.size());
  }

  @Test
  void theTableDropsPeersThatAreNotReadFrom() throws Exception {
    PeerTable table = new PeerTable(readings.services, () -> nowNs);
    PeerRecord used = new PeerRecord(record("used", 1, "shm"), 1);
    Peer gone = table.peer(new PeerRecord(record("gone", 1, "shm"), 1));
    want(gone.connector());
    ManualConnection connection = shm.succeedConnect();
    for (int minute = 0; minute < 10; minute++) {
      advance(Duration.ofMinutes(1).toSeconds());
      table.peer(used);
      table.dropIdle();
    }
    assertEquals(1, table.size());
    assertFalse(connection.isOpen());
    advance(Duration.ofMinutes(6).toSeconds());
    table.dropIdle();
    assertEquals(0, table.size(), "though nobody reads any more");
  }

  @Test
  void theTableKeepsPeersAsLongAsARequestMayTake() {
    RdmaShuffleConf conf =
        RdmaShuffleConf.from(
            Map.of(
                "spark.shuffle.rdma.read.timeout", "10min",
                "spark.shuffle.rdma.memory.quarantine", "15min"));
    try (Readings patient = new Readings(conf, shm)) {
      PeerTable table = new PeerTable(patient.services, () -> nowNs);
      table.peer(new PeerRecord(record("1", 1, "shm"), 1));
      advance(Duration.ofMinutes(20).toSeconds());
      table.dropIdle();
      assertEquals(1, table.size());
    }
  }

  @Test
  void beyondTheLimitThePeerThatIsIdleLongestMakesRoom() throws Exception {
    RdmaShuffleConf conf = RdmaShuffleConf.from(Map.of("spark.shuffle.rdma.maxConnections", "2"));
    try (Readings limited = new Readings(conf, shm)) {
      PeerTable table = new PeerTable(limited.services, () -> nowNs);
      Peer idlest = table.peer(new PeerRecord(record("idlest", 1, "shm"), 1));
      want(idlest.connector());
      ManualConnection connection = shm.succeedConnect();
      advance(Duration.ofMinutes(2).toSeconds());
      table.peer(new PeerRecord(record("idle", 1, "shm"), 1));
      table.peer(new PeerRecord(record("new", 1, "shm"), 1));
      assertEquals(2, table.size());
      assertFalse(connection.isOpen());
      // The others may have requests under way.
      table.peer(new PeerRecord(record("newer", 1, "shm"), 1));
      assertEquals(3, table.size());
    }
  }

  @Test
  void aClosedTableConnectsToNobody() {
    PeerTable table = new PeerTable(readings.services, () -> nowNs);
    table.peer(new PeerRecord(record("1", 1, "shm"), 1));
    table.close();
    Peer late = table.peer(new PeerRecord(record("1", 1, "shm"), 1));
    assertEquals(FallbackReason.READ_FAILED, reason(late.connector().link()));
    assertEquals(0, table.size());
    assertEquals(0, shm.connects.size());
  }
}
