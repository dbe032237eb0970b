package io.rdmashuffle.transport.sharedmemory;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rdmashuffle.transport.Access;
import io.rdmashuffle.transport.Availability;
import io.rdmashuffle.transport.Connection;
import io.rdmashuffle.transport.Deadline;
import io.rdmashuffle.transport.FailureKind;
import io.rdmashuffle.transport.Outcome;
import io.rdmashuffle.transport.PeerIdentity;
import io.rdmashuffle.transport.ReadBatch;
import io.rdmashuffle.transport.RegisteredSlab;
import io.rdmashuffle.transport.SlabFactories;
import io.rdmashuffle.transport.SlabFactory;
import io.rdmashuffle.transport.SlabMemory;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportNode;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Reads the memory of another process, which is killed. */
@Timeout(60)
class SharedMemoryProcessTest {
  private static final int SLAB_LENGTH = 8 * 1024 * 1024;
  private static final int SLAB_COUNT = 3;
  private static final int DATA = SlabMemory.HEADER_LENGTH;

  private final PeerIdentity self = identity("reader", 1);
  private final PeerIdentity peer = identity("owner", 2);
  @TempDir private Path directory;
  private TransportNode node;
  private RegisteredSlab target;
  private SlabOwnerProcess process;

  @BeforeEach
  void open() throws Exception {
    SlabFactory slabs = SlabFactories.open(directory, self);
    assumeTrue(slabs.shareable().isAvailable(), slabs.shareable().cause());
    node = new TransportNode(self, SharedMemoryTransport.open(self, slabs.shareable()), slabs);
    target = node.addSlab(SLAB_LENGTH, Access.LOCAL_WRITE);
    process = SlabOwnerProcess.start(directory, peer, SLAB_COUNT, SLAB_LENGTH);
  }

  @AfterEach
  void close() throws Exception {
    process.close();
    node.close();
    assertEquals(0, node.transport().counters().peerResources.sum());
    assertArrayEquals(new String[0], directory.toFile().list(), "nothing is left behind");
  }

  @Test
  void readsTheMemoryOfAnotherProcess() throws Exception {
    Connection connection = connect();
    for (int number = 0; number < SLAB_COUNT; number++) {
      assertNull(read(connection, number, DATA, SLAB_LENGTH - DATA));
      assertRead(number, DATA, SLAB_LENGTH - DATA);
    }
    assertEquals(SLAB_COUNT, node.transport().counters().peerResources.sum());
  }

  @Test
  void slabMappedBeforeTheOwnerWasKilledIsReadStill() throws Exception {
    Connection connection = connect();
    assertNull(read(connection, 0, DATA, 4096));
    Thread killer = new Thread(process::close, "killer");
    killer.start();
    boolean isOver = false;
    while (!isOver) { // before, while and after it is killed
      isOver = !killer.isAlive();
      assertNull(read(connection, 0, DATA, SLAB_LENGTH - DATA));
      assertRead(0, DATA, SLAB_LENGTH - DATA);
    }
  }

  @Test
  void slabNotMappedBeforeTheOwnerWasKilledFails() throws Exception {
    Connection connection = connect();
    assertNull(read(connection, 0, DATA, 4096));
    process.close();
    TransportException failure = read(connection, 1, DATA, 4096);
    assertEquals(FailureKind.READ_FAILED, failure.kind());
    assertTrue(failure.getMessage().contains("executor owner of app"), failure.getMessage());
    assertEquals(FailureKind.CLOSED, read(connection, 0, DATA, 4096).kind());
  }

  @Test
  void connectToAKilledOwnerIsRejected() throws Exception {
    process.close();
    ExecutionException failure = assertThrows(ExecutionException.class, this::connect);
    TransportException cause = assertInstanceOf(TransportException.class, failure.getCause());
    assertEquals(FailureKind.CONNECT_REJECTED, cause.kind());
    assertTrue(cause.getMessage().contains("process " + process.pid()), cause.getMessage());
  }

  @Test
  void fileThatIsNoSlabOfThePeerIsNotRead() throws Exception {
    for (int descriptor = 0; descriptor < 3; descriptor++) { // pipes and files of the process
      Connection connection = connect();
      ReadBatch batch = newBatch().add(DATA, descriptor, 8, target, DATA);
      assertEquals(FailureKind.READ_FAILED, offer(connection, batch).awaitKind());
    }
  }

  @Test
  void slabOfAnotherExecutorIsNotRead() throws Exception {
    PeerIdentity impostor = identity("owner", 3);
    PeerSlabs slabs =
        new PeerSlabs(
            impostor,
            SharedMemoryEndpoint.decode(process.endpoint()).process(),
            node.transport().counters().peerResources);
    IOException failure = assertThrows(IOException.class, () -> slabs.hold(process.key(0)));
    assertTrue(failure.getMessage().contains("is not a slab of"), failure.getMessage());
  }

  @Test
  void interruptedThreadReadsAsAnyOther() throws Exception {
    Connection connection = connect();
    Thread.currentThread().interrupt();
    try {
      assertNull(read(connection, 2, DATA, 4096));
    } finally {
      assertTrue(Thread.interrupted(), "the interrupt is kept");
    }
    assertRead(2, DATA, 4096);
  }

  @Test
  void peerWithoutSharedMemorySaysSo() {
    PeerIdentity other = identity("other", 4);
    try (SharedMemoryTransport unavailable =
        SharedMemoryTransport.open(
            other, Availability.unavailable(FailureKind.NO_SHARED_MEMORY, "no tmpfs"))) {
      ExecutionException failure =
          assertThrows(
              ExecutionException.class,
              () ->
                  node.transport()
                      .connect(unavailable.localEndpoint(), other, deadline())
                      .get(1, TimeUnit.SECONDS));
      TransportException cause = assertInstanceOf(TransportException.class, failure.getCause());
      assertEquals(FailureKind.NO_SHARED_MEMORY, cause.kind());
    }
  }

  private Connection connect() throws Exception {
    return node.transport().connect(process.endpoint(), peer, deadline()).get(5, TimeUnit.SECONDS);
  }

  private TransportException read(Connection connection, int number, int offset, int length) {
    ReadBatch batch = newBatch().add(offset, process.key(number), length, target, offset);
    return offer(connection, batch).await();
  }

  private void assertRead(int number, int offset, int length) {
    for (int i = offset; i < offset + length; i += 8) {
      if (target.slab().buffer().getLong(i) != SlabOwnerMain.wordAt(number, i)) {
        throw new AssertionError("wrong word at " + i);
      }
      target.slab().buffer().putLong(i, 0);
    }
  }

  private static Outcome offer(Connection connection, ReadBatch batch) {
    Outcome outcome = new Outcome();
    assertTrue(connection.offer(batch, outcome));
    return outcome;
  }

  private static ReadBatch newBatch() {
    return new ReadBatch(1).reset(deadline());
  }

  private static Deadline deadline() {
    return Deadline.after(Duration.ofSeconds(10));
  }

  private static PeerIdentity identity(String executorId, int tokenByte) {
    byte[] token = new byte[PeerIdentity.TOKEN_LENGTH];
    Arrays.fill(token, (byte) tokenByte);
    return new PeerIdentity("app", executorId, token);
  }
}
