package io.rdmashuffle.transport;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * What every transport promises. A subclass says how a transport is made; where none is available
 * the tests are skipped with the transport's own reason.
 *
 * <p>Two nodes in one process play the parts: {@code owner} has memory that {@code reader} reads.
 */
@Timeout(60)
public abstract class AbstractTransportContractTest {
  protected static final int SLAB_LENGTH = 2 * 1024 * 1024;
  protected static final int DATA = SlabMemory.HEADER_LENGTH;
  private static final byte FILL = 0x5a;

  @TempDir private Path directory;

  private final Deque<AutoCloseable> opened = new ArrayDeque<>();

  protected TransportNode owner;
  protected TransportNode reader;
  protected RegisteredSlab source;
  protected RegisteredSlab target;

  /** A transport for a process that is {@code self}; need not be available. */
  protected abstract Transport openTransport(PeerIdentity self, SlabFactory slabs) throws Exception;

  protected SlabFactory openSlabs(PeerIdentity self) {
    return SlabFactories.open(Path.of("/dev/shm"), self);
  }

  /** The endpoint of a peer that ran and no longer does. */
  protected byte[] endpointOfDeadPeer(PeerIdentity peer) throws Exception {
    try (TransportNode node = openNode(peer)) {
      return node.transport().localEndpoint();
    }
  }

  /** Whether the transport under test promises to allocate nothing per batch. */
  protected boolean allocatesNothingPerBatch() {
    return true;
  }

  /** Mutated endpoints to try; each costs up to {@link #mutantTimeout()}. */
  protected int mutantCount() {
    return 2000;
  }

  protected Duration mutantTimeout() {
    return Duration.ofMillis(200);
  }

  /** Time for what should succeed. */
  protected Duration patience() {
    return Duration.ofSeconds(10);
  }

  @BeforeEach
  void openNodes() throws Exception {
    owner = closeLater(openNode(identity("owner", 1)));
    Availability availability = owner.transport().availability();
    assumeTrue(availability.isAvailable(), availability.cause());
    reader = closeLater(openNode(identity("reader", 2)));
    source = owner.addFilledSlab(SLAB_LENGTH, 11);
    target = reader.addSlab(SLAB_LENGTH, Access.LOCAL_WRITE);
    fillTarget();
  }

  @AfterEach
  void closeNodes() throws Exception {
    while (!opened.isEmpty()) {
      opened.pop().close();
    }
  }

  @Test
  void deliversExactlyTheBytesAsked() throws Exception {
    Connection connection = connect();
    for (int length : new int[] {1, 7, 8, 4095, 4096, 1024 * 1024}) {
      for (int skew : new int[] {0, 1, 3, 8, 13}) {
        fillTarget();
        int from = DATA + 16 + skew;
        int to = DATA + 32 + 3 * skew;
        assertNull(read(connection, from, length, to));
        assertDelivered(source, from, length, to);
        assertEquals(FILL, target.slab().buffer().get(to - 1), "the byte before");
        assertEquals(FILL, target.slab().buffer().get(to + length), "the byte behind");
      }
    }
  }

  @Test
  void readsAWholeSlab() throws Exception {
    Connection connection = connect();
    int piece = Math.min(SLAB_LENGTH, reader.transport().maxReadLength());
    for (int offset = 0; offset < SLAB_LENGTH; offset += piece) {
      int length = Math.min(piece, SLAB_LENGTH - offset);
      assertNull(read(connection, offset, length, offset));
    }
    assertDelivered(source, 0, SLAB_LENGTH, 0);
  }

  @Test
  void readsFromSeveralSlabsIntoSeveralSlabsInOneBatch() throws Exception {
    RegisteredSlab otherSource = owner.addFilledSlab(SLAB_LENGTH, 12);
    RegisteredSlab otherTarget = reader.addSlab(SLAB_LENGTH, Access.LOCAL_WRITE);
    ReadBatch batch = newBatch(4);
    add(batch, source, DATA, 1000, target, DATA);
    add(batch, otherSource, DATA, 1000, target, DATA + 1000);
    add(batch, source, DATA + 1000, 1000, otherTarget, DATA);
    add(batch, otherSource, DATA + 1000, 1000, otherTarget, DATA + 1000);
    assertNull(offer(connect(), batch).await());
    assertDelivered(source, DATA, target, DATA, 1000);
    assertDelivered(otherSource, DATA, target, DATA + 1000, 1000);
    assertDelivered(source, DATA + 1000, otherTarget, DATA, 1000);
    assertDelivered(otherSource, DATA + 1000, otherTarget, DATA + 1000, 1000);
  }

  @Test
  void readsABatchOfMaximumSize() throws Exception {
    int size = reader.transport().maxBatchSize();
    int length = Math.min(64, (SLAB_LENGTH - DATA) / size);
    ReadBatch batch = newBatch(size);
    for (int i = 0; i < size; i++) { // in reverse, so that one long copy would not do
      int offset = DATA + (size - 1 - i) * length;
      add(batch, source, offset, length, target, offset);
    }
    assertNull(offer(connect(), batch).await());
    assertDelivered(source, DATA, size * length, DATA);
  }

  @Test
  void completesBatchesInTheOrderInWhichTheyWereAccepted() throws Exception {
    int count = 200;
    List<Integer> order = Collections.synchronizedList(new ArrayList<>());
    Connection connection = connect();
    List<Outcome> outcomes = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int number = i;
      Outcome outcome =
          new Outcome() {
            @Override
            public void onComplete(ReadBatch batch) {
              order.add(number);
              super.onComplete(batch);
            }
          };
      ReadBatch batch = newBatch(1);
      add(batch, source, DATA, i % 2 == 0 ? 64 * 1024 : 8, target, DATA);
      offerPatiently(connection, batch, outcome, outcomes);
      outcomes.add(outcome);
    }
    for (Outcome outcome : outcomes) {
      assertNull(outcome.await());
    }
    List<Integer> sorted = new ArrayList<>(order);
    Collections.sort(sorted);
    assertEquals(sorted, order);
    assertEquals(count, order.size());
  }

  /**
   * The owner voids the generation, rewrites the data, then states the next generation. A reader
   * that finds the generation unchanged behind the data must have read data of that generation.
   */
  @Test
  void laterReadOfABatchSeesMemoryNoOlderThanAnEarlierOne() throws Exception {
    int length = 32 * 1024;
    AtomicBoolean isOver = new AtomicBoolean();
    GenerationWriter writer = new GenerationWriter(source.slab().buffer(), DATA, length, isOver);
    Thread thread = new Thread(writer, "generation-writer");
    thread.start();
    int confirmed = 0;
    try {
      Connection connection = connect();
      long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(2);
      while (System.nanoTime() - endNs < 0) {
        confirmed += readOneGeneration(connection, length) ? 1 : 0;
      }
    } finally {
      isOver.set(true);
      thread.join();
    }
    assertTrue(writer.generation() > 10, "the owner rewrote");
    assertTrue(confirmed > 10, "reads confirmed: " + confirmed);
  }

  @Test
  void rejectsWhatIsNoBatch() throws Exception {
    Connection connection = connect();
    assertThrows(
        IllegalArgumentException.class, () -> connection.offer(newBatch(1), new Outcome()));
    int size = reader.transport().maxBatchSize() + 1;
    ReadBatch tooLarge = newBatch(size);
    for (int i = 0; i < size; i++) {
      add(tooLarge, source, DATA, 1, target, DATA);
    }
    assertThrows(IllegalArgumentException.class, () -> connection.offer(tooLarge, new Outcome()));
    assertTrue(connection.isOpen());
    assertNull(read(connection, DATA, 8, DATA), "the connection still works");
  }

  @Test
  void slabRegisteredAfterTheConnectIsReachable() throws Exception {
    Connection connection = connect();
    assertNull(read(connection, DATA, 8, DATA));
    RegisteredSlab late = owner.addFilledSlab(SLAB_LENGTH, 13);
    ReadBatch batch = newBatch(1);
    add(batch, late, DATA, 5000, target, DATA);
    assertNull(offer(connection, batch).await());
    assertDelivered(late, DATA, target, DATA, 5000);
  }

  @Test
  void takesMoreAfterBackPressure() throws Exception {
    Connection connection = connect();
    int size = Math.min(reader.transport().maxBatchSize(), 32);
    List<Outcome> outcomes = new ArrayList<>();
    for (int i = 0; i < 500; i++) {
      ReadBatch batch = newBatch(size);
      for (int k = 0; k < size; k++) {
        add(batch, source, DATA + k * 4096, 4096, target, DATA + k * 4096);
      }
      Outcome outcome = new Outcome();
      offerPatiently(connection, batch, outcome, outcomes);
      outcomes.add(outcome);
    }
    for (Outcome outcome : outcomes) {
      assertNull(outcome.await());
      assertEquals(1, outcome.calls());
    }
    assertDelivered(source, DATA, size * 4096, DATA);
  }

  @Test
  void readBeyondTheSlabFailsAndBreaksTheConnection() throws Exception {
    assertBreaks(source.remoteAddress() + SLAB_LENGTH - 4, source.remoteKey());
    assertBreaks(source.remoteAddress() - 4, source.remoteKey());
    assertBreaks(Long.MIN_VALUE, source.remoteKey());
    assertBreaks(Long.MAX_VALUE, source.remoteKey());
  }

  @Test
  void readWithAWrongKeyFailsAndBreaksTheConnection() throws Exception {
    for (int key : new int[] {source.remoteKey() + 4711, -1, Integer.MAX_VALUE, 0}) {
      assertBreaks(source.remoteAddress() + DATA, key);
    }
  }

  @Test
  void slabThatWasGivenUpIsNotRead() throws Exception {
    RegisteredSlab other = owner.addFilledSlab(SLAB_LENGTH, 14);
    Connection connection = connect();
    ReadBatch batch = newBatch(1);
    add(batch, other, DATA, 100, target, DATA);
    assertNull(offer(connection, batch).await());
    long address = other.remoteAddress() + DATA;
    int key = other.remoteKey();
    owner.removeSlab(other);
    batch.reset(deadline()).add(address, key, 100, target, DATA);
    assertEquals(FailureKind.READ_FAILED, offer(connection, batch).awaitKind());
  }

  @Test
  void readsFromAFileAndFromASlabInOneBatch() throws Exception {
    byte[] bytes = randomBytes(3 * 1024 * 1024 + 7);
    RegisteredSlab file = addFile(bytes);
    Connection connection = connect();
    for (int from : new int[] {0, 1, bytes.length - 1_500_000}) {
      ReadBatch batch = newBatch(3);
      add(batch, file, from, 1_500_000, target, DATA);
      add(batch, source, DATA + 5, 100, target, DATA + 1_500_000);
      add(batch, file, bytes.length - 1, 1, target, DATA + 1_500_100);
      assertNull(offer(connection, batch).await());
      assertDelivered(bytes, from, DATA, 1_500_000);
      assertDelivered(source, DATA + 5, 100, DATA + 1_500_000);
      assertDelivered(bytes, bytes.length - 1, DATA + 1_500_100, 1);
    }
  }

  @Test
  void fileThatWasReplacedOrDeletedIsReadAsItWas() throws Exception {
    byte[] bytes = randomBytes(100_000);
    RegisteredSlab file = addFile(bytes);
    Connection connection = connect();
    ReadBatch batch = newBatch(1);
    Path other = Files.write(directory.resolve("other"), new byte[bytes.length]);
    Files.move(other, directory.resolve("file"), StandardCopyOption.REPLACE_EXISTING);
    add(batch, file, 0, bytes.length, target, DATA);
    assertNull(offer(connection, batch).await());
    assertDelivered(bytes, 0, DATA, bytes.length);

    Files.delete(directory.resolve("file"));
    fillTarget();
    batch.reset(deadline());
    add(batch, file, 0, bytes.length, target, DATA);
    assertNull(offer(connection, batch).await());
    assertDelivered(bytes, 0, DATA, bytes.length);
  }

  /**
   * Where a device holds the memory, the bytes are there all the same, but for the rest of the
   * pages in which the file ends now: the kernel has cleared them.
   */
  @Test
  void fileThatWasShortenedFailsOrIsReadAsItWas() throws Exception {
    int end = 10_000;
    byte[] bytes = randomBytes(100_000);
    RegisteredSlab file = addFile(bytes);
    Connection connection = connect();
    try (FileChannel channel =
        FileChannel.open(directory.resolve("file"), StandardOpenOption.WRITE)) {
      channel.truncate(end);
    }
    ReadBatch batch = newBatch(1);
    add(batch, file, 0, bytes.length, target, DATA);
    TransportException failure = offer(connection, batch).await();
    if (failure == null) {
      assertTrue(reader.transport().readsByDevice(), "delivered though it was shortened");
      assertDelivered(bytes, 0, DATA, end);
      for (int i = end; i < bytes.length; i++) {
        byte found = target.slab().buffer().get(DATA + i);
        assertTrue(found == 0 || found == bytes[i], "byte " + i);
      }
    } else {
      assertEquals(FailureKind.READ_FAILED, failure.kind());
      assertBroken(connection);
    }
  }

  @Test
  void fileThatWasGivenUpIsNotRead() throws Exception {
    RegisteredSlab file = addFile(randomBytes(100_000));
    long address = file.remoteAddress();
    int key = file.remoteKey();
    owner.removeSlab(file);
    assertBreaks(address, key);
    assertEquals(0, reader.transport().counters().peerResources.sum(), "the file is closed");
  }

  @Test
  void interruptedThreadReadsAFileAsAnyOther() throws Exception {
    byte[] bytes = randomBytes(1_500_000);
    RegisteredSlab file = addFile(bytes);
    Connection connection = connect();
    ReadBatch batch = newBatch(1);
    add(batch, file, 0, bytes.length, target, DATA);
    Outcome outcome = new Outcome();
    Thread.currentThread().interrupt();
    assertTrue(connection.offer(batch, outcome));
    assertTrue(Thread.interrupted(), "the interrupt is kept");
    assertNull(outcome.await());
    assertDelivered(bytes, 0, DATA, bytes.length);
  }

  /** Skipped where the system does not let a device have memory that is a file. */
  private RegisteredSlab addFile(byte[] bytes) throws Exception {
    Path file = Files.write(directory.resolve("file"), bytes);
    try {
      return owner.addFile(file, bytes.length);
    } catch (TransportException e) {
      return abort("files cannot be registered here: " + e.getMessage());
    }
  }

  private static byte[] randomBytes(int length) {
    byte[] bytes = new byte[length];
    new Random(length).nextBytes(bytes);
    return bytes;
  }

  private void assertDelivered(byte[] expected, int from, int at, int length) {
    int mismatch =
        ByteBuffer.wrap(expected, from, length).mismatch(target.slab().buffer().slice(at, length));
    assertEquals(-1, mismatch, "first wrong byte of " + length);
  }

  @Test
  void wrongTokenIsRefused() {
    PeerIdentity impostor = identity("owner", 99);
    assertRefused(owner.transport().localEndpoint(), impostor, FailureKind.CONNECT_REJECTED);
  }

  @Test
  void wrongExecutorIsRefused() {
    PeerIdentity other = new PeerIdentity("app", "other", owner.identity().token());
    assertRefused(owner.transport().localEndpoint(), other, FailureKind.CONNECT_REJECTED);
  }

  /** An application that ended, with which this one has even executor id and token in common. */
  @Test
  void executorOfAnEarlierApplicationIsRefused() {
    PeerIdentity former = new PeerIdentity("app-0", "owner", owner.identity().token());
    assertRefused(owner.transport().localEndpoint(), former, FailureKind.CONNECT_REJECTED);
  }

  @Test
  void garbageEndpointIsRefused() throws Exception {
    int[] lengths = {0, 1, 3, 4, 76, 511, 512, 513, 100_000};
    for (int length : lengths) {
      byte[] zeros = new byte[length];
      assertNotConnected(zeros);
      byte[] ones = new byte[length];
      Arrays.fill(ones, (byte) 0xff);
      assertNotConnected(ones);
      byte[] random = new byte[length];
      new Random(length).nextBytes(random);
      assertNotConnected(random);
    }
  }

  @Test
  void mutatedEndpointConnectsOrFailsInTheDeclaredWay() throws Exception {
    Mutator mutator = new Mutator(List.of(owner.transport().localEndpoint()), new Random(1));
    for (int i = 0; i < mutantCount(); i++) {
      byte[] mutant = mutator.next();
      try {
        connectTo(mutant, owner.identity(), Deadline.after(mutantTimeout())).close();
      } catch (TransportException e) {
        assertFalse(e.getMessage().isEmpty());
      } catch (Exception e) {
        throw new AssertionError("mutant " + i, e);
      }
    }
    assertNull(read(connect(), DATA, 8, DATA), "the peer survived");
  }

  @Test
  void deadPeerIsReportedBeforeTheDeadline() throws Exception {
    PeerIdentity dead = identity("dead", 5);
    byte[] endpoint = endpointOfDeadPeer(dead);
    long startNs = System.nanoTime();
    TransportException failure =
        assertThrows(
            TransportException.class,
            () -> connectTo(endpoint, dead, Deadline.after(Duration.ofSeconds(2))));
    long elapsedMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNs);
    assertTrue(
        failure.kind() == FailureKind.CONNECT_REJECTED
            || failure.kind() == FailureKind.CONNECT_TIMEOUT,
        failure.toString());
    assertTrue(elapsedMs < 4000, elapsedMs + " ms");
  }

  @Test
  void connectWhoseDeadlineIsOverTimesOut() {
    TransportException failure =
        assertThrows(
            TransportException.class,
            () ->
                connectTo(
                    owner.transport().localEndpoint(),
                    owner.identity(),
                    new Deadline(System.nanoTime() - 1)));
    assertEquals(FailureKind.CONNECT_TIMEOUT, failure.kind());
  }

  @Test
  void batchWhoseDeadlineIsOverTimesOutAndBreaksTheConnection() throws Exception {
    Connection connection = connect();
    ReadBatch batch = new ReadBatch(1).reset(new Deadline(System.nanoTime() - 1));
    add(batch, source, DATA, 100, target, DATA);
    assertEquals(FailureKind.READ_TIMEOUT, offer(connection, batch).awaitKind());
    assertBroken(connection);
    assertTargetUntouched();
  }

  @Test
  void closeIsIdempotentAndFailsWhatFollows() throws Exception {
    Connection connection = connect();
    assertTrue(connection.isOpen());
    assertEquals(owner.identity(), connection.peer());
    connection.close();
    connection.close();
    assertBroken(connection);
    reader.transport().close();
    reader.transport().close();
  }

  @Test
  void everyBatchEndsOnceThoughTheConnectionIsClosedMeanwhile() throws Exception {
    for (int round = 0; round < 20; round++) {
      Connection connection = connect();
      List<Outcome> outcomes = new ArrayList<>();
      Thread closer = new Thread(connection::close, "closer");
      for (int i = 0; i < 100; i++) {
        if (i == 5 * round) {
          closer.start();
        }
        ReadBatch batch = newBatch(1);
        add(batch, source, DATA, 64 * 1024, target, DATA);
        Outcome outcome = new Outcome();
        offerPatiently(connection, batch, outcome, outcomes);
        outcomes.add(outcome);
      }
      closer.join();
      for (Outcome outcome : outcomes) {
        FailureKind kind = outcome.awaitKind();
        assertTrue(kind == null || kind == FailureKind.CLOSED, "kind=" + kind);
        assertEquals(1, outcome.calls());
      }
    }
  }

  @Test
  void closingTheTransportClosesItsConnections() throws Exception {
    Connection connection = connect();
    assertNull(read(connection, DATA, 8, DATA));
    reader.transport().close();
    assertFalse(connection.isOpen());
    assertBroken(connection);
    assertRefused(owner.transport().localEndpoint(), owner.identity(), FailureKind.CLOSED);
    assertEquals(0, reader.transport().counters().peerResources.sum());
    assertEquals(0, reader.transport().counters().openConnections.sum());
  }

  @Test
  void everyBatchOfManyThreadsCompletesOnceWithItsOwnBytes() throws Exception {
    Connection connection = connect();
    int threadCount = 4;
    AtomicInteger wrong = new AtomicInteger();
    CountDownLatch done = new CountDownLatch(threadCount);
    for (int t = 0; t < threadCount; t++) {
      int number = t;
      Thread thread =
          new Thread(
              () -> {
                try {
                  readRepeatedly(connection, number, 500);
                } catch (Throwable e) {
                  wrong.incrementAndGet();
                } finally {
                  done.countDown();
                }
              },
              "reader-" + t);
      thread.start();
    }
    assertTrue(done.await(30, TimeUnit.SECONDS));
    assertEquals(0, wrong.get());
  }

  @Test
  void listenerMayOfferAgainAsOftenAsItLikes() throws Exception {
    Connection connection = connect();
    ReadBatch batch = newBatch(1);
    add(batch, source, DATA, 8, target, DATA);
    int count = 20_000; // would overflow the stack if each offer nested in the one before
    CountDownLatch done = new CountDownLatch(count);
    AtomicInteger failures = new AtomicInteger();
    ReadListener chain =
        new ReadListener() {
          @Override
          public void onComplete(ReadBatch completed) {
            done.countDown();
            if (done.getCount() > 0 && !connection.offer(completed, this)) {
              failures.incrementAndGet();
            }
          }

          @Override
          public void onFailure(ReadBatch failed, TransportException failure) {
            failures.incrementAndGet();
          }
        };
    assertTrue(connection.offer(batch, chain));
    assertTrue(done.await(30, TimeUnit.SECONDS), "left: " + done.getCount());
    assertEquals(0, failures.get());
  }

  @Test
  void localMemoryIsNotTouchedOnceTheListenerWasCalled() throws Exception {
    Connection connection = connect();
    List<Outcome> outcomes = new ArrayList<>();
    for (int i = 0; i < 20; i++) { // a broken read in the middle; the later ones are flushed
      ReadBatch batch = newBatch(1);
      int key = i == 10 ? source.remoteKey() + 4711 : source.remoteKey();
      batch.add(source.remoteAddress() + DATA, key, 64 * 1024, target, DATA + i * 64 * 1024);
      Outcome outcome =
          new Outcome() {
            @Override
            public void onComplete(ReadBatch completed) {
              overwrite(completed);
              super.onComplete(completed);
            }

            @Override
            public void onFailure(ReadBatch failed, TransportException failure) {
              overwrite(failed);
              super.onFailure(failed, failure);
            }
          };
      offerPatiently(connection, batch, outcome, outcomes);
      outcomes.add(outcome);
    }
    for (int i = 0; i < 20; i++) {
      FailureKind expected = i < 10 ? null : i == 10 ? FailureKind.READ_FAILED : FailureKind.CLOSED;
      assertEquals(expected, outcomes.get(i).awaitKind(), "batch " + i);
    }
    Thread.sleep(100);
    assertTargetUntouched();
  }

  @Test
  void countsReadsBytesAndFailures() throws Exception {
    TransportCounters counters = reader.transport().counters();
    long registrations = counters.registrations.sum();
    Connection connection = connect();
    ReadBatch batch = newBatch(3);
    for (int i = 0; i < 3; i++) {
      add(batch, source, DATA, 100, target, DATA);
    }
    assertNull(offer(connection, batch).await());
    assertEquals(3, counters.readsCompleted.sum());
    assertEquals(300, counters.bytesRead.sum());
    assertEquals(1, counters.openConnections.sum());
    connection.close();
    assertBroken(connection);
    assertEquals(1, counters.batchesFailed.sum());
    assertEquals(3, counters.readsCompleted.sum());
    assertEquals(registrations, counters.registrations.sum(), "reading registers nothing");
  }

  @Test
  void gaugesReturnToZero() throws Exception {
    RegisteredSlab other = owner.addFilledSlab(SLAB_LENGTH, 15);
    for (int i = 0; i < 3; i++) {
      Connection connection = connect();
      ReadBatch batch = newBatch(2);
      add(batch, source, DATA, 100, target, DATA);
      add(batch, other, DATA, 100, target, DATA);
      assertNull(offer(connection, batch).await());
      assertTrue(reader.transport().counters().peerResources.sum() > 0);
      if (i % 2 == 0) {
        connection.close();
      }
    }
    reader.close();
    owner.close();
    for (TransportNode node : List.of(reader, owner)) {
      TransportCounters counters = node.transport().counters();
      assertEquals(0, counters.registeredSlabs.sum());
      assertEquals(0, counters.openConnections.sum());
      assertEquals(0, counters.peerResources.sum());
    }
  }

  @Test
  void closedTransportLeavesNoThreadAndNoDescriptor() throws Exception {
    useAndClose(); // whatever is made once per process
    Set<String> threads = threadNames();
    int descriptorCount = descriptorCount();
    for (int i = 0; i < 5; i++) {
      useAndClose();
    }
    long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(5);
    while (System.nanoTime() - endNs < 0
        && (descriptorCount() > descriptorCount || !threads.containsAll(threadNames()))) {
      Thread.sleep(20);
    }
    Set<String> left = threadNames();
    left.removeAll(threads);
    assertTrue(left.isEmpty(), "threads left: " + left);
    assertTrue(descriptorCount() <= descriptorCount, "descriptors left");
  }

  @Test
  void offeringAllocatesNothing() throws Exception {
    assumeTrue(allocatesNothingPerBatch(), "this transport allocates");
    Connection connection = connect();
    ReadBatch batch = newBatch(2);
    Outcome outcome = new Outcome();
    Deadline deadline = Deadline.after(Duration.ofMinutes(2));
    readInPlace(connection, batch, outcome, deadline, 5_000);
    com.sun.management.ThreadMXBean threads =
        (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    long id = Thread.currentThread().getId();
    long before = threads.getThreadAllocatedBytes(id);
    readInPlace(connection, batch, outcome, deadline, 10_000);
    long allocated = threads.getThreadAllocatedBytes(id) - before;
    assertTrue(allocated < 4096, "allocated " + allocated + " bytes in 10000 batches");
  }

  @Test
  void endpointIsBoundedAndStable() {
    byte[] endpoint = owner.transport().localEndpoint();
    assertTrue(endpoint.length <= Transport.MAX_ENDPOINT_LENGTH);
    assertArrayEquals(endpoint, owner.transport().localEndpoint());
    String bytes = Arrays.toString(endpoint);
    String token = Arrays.toString(owner.identity().token());
    assertFalse(bytes.contains(token.substring(1, token.length() - 1)), "the token itself");
  }

  // What the tests are made of.

  protected static PeerIdentity identity(String executorId, int tokenByte) {
    byte[] token = new byte[PeerIdentity.TOKEN_LENGTH];
    Arrays.fill(token, (byte) tokenByte);
    return new PeerIdentity("app", executorId, token);
  }

  protected final TransportNode openNode(PeerIdentity identity) throws Exception {
    SlabFactory slabs = openSlabs(identity);
    return new TransportNode(identity, openTransport(identity, slabs), slabs);
  }

  protected final <T extends AutoCloseable> T closeLater(T resource) {
    opened.push(resource);
    return resource;
  }

  protected final Deadline deadline() {
    return Deadline.after(patience());
  }

  protected final Connection connect() throws Exception {
    return connectTo(owner.transport().localEndpoint(), owner.identity(), deadline());
  }

  /** Waits for the connection; only a failure in the declared way ends in TransportException. */
  protected final Connection connectTo(byte[] endpoint, PeerIdentity peer, Deadline deadline)
      throws Exception {
    CompletableFuture<Connection> future = reader.transport().connect(endpoint, peer, deadline);
    try {
      return future.get(deadline.remainingMs() + 3000, TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      throw assertInstanceOf(TransportException.class, e.getCause());
    }
  }

  protected final ReadBatch newBatch(int capacity) {
    return new ReadBatch(capacity).reset(deadline());
  }

  protected static void add(
      ReadBatch batch, RegisteredSlab from, int offset, int length, RegisteredSlab to, int at) {
    batch.add(from.remoteAddress() + offset, from.remoteKey(), length, to, at);
  }

  protected static Outcome offer(Connection connection, ReadBatch batch) {
    Outcome outcome = new Outcome();
    assertTrue(connection.offer(batch, outcome), "nothing outstanding, so there must be room");
    return outcome;
  }

  /** Reads from the source slab; the failure, or null. */
  protected final TransportException read(Connection connection, int from, int length, int to) {
    ReadBatch batch = newBatch(1);
    add(batch, source, from, length, target, to);
    Outcome outcome = offer(connection, batch);
    TransportException failure = outcome.await();
    assertEquals(1, outcome.calls());
    return failure;
  }

  protected final void assertDelivered(RegisteredSlab from, int offset, int length, int at) {
    assertDelivered(from, offset, target, at, length);
  }

  protected static void assertDelivered(
      RegisteredSlab from, int offset, RegisteredSlab to, int at, int length) {
    ByteBuffer expected = from.slab().buffer().slice(offset, length);
    int mismatch = expected.mismatch(to.slab().buffer().slice(at, length));
    assertEquals(-1, mismatch, "first wrong byte of " + length);
  }

  /** The broken connection says so, and fails whatever is offered. */
  protected final void assertBroken(Connection connection) {
    assertFalse(connection.isOpen());
    assertEquals(FailureKind.CLOSED, read(connection, DATA, 8, DATA).kind());
  }

  private void assertBreaks(long remoteAddress, int remoteKey) throws Exception {
    Connection connection = connect();
    assertNull(read(connection, DATA, 8, DATA));
    ReadBatch batch = newBatch(1).add(remoteAddress, remoteKey, 8, target, DATA);
    Outcome outcome = offer(connection, batch);
    assertEquals(FailureKind.READ_FAILED, outcome.awaitKind());
    assertEquals(1, outcome.calls());
    assertBroken(connection);
    connection.close();
  }

  private void assertRefused(byte[] endpoint, PeerIdentity peer, FailureKind expected) {
    TransportException failure =
        assertThrows(TransportException.class, () -> connectTo(endpoint, peer, deadline()));
    assertEquals(expected, failure.kind(), failure.toString());
    assertEquals(0, reader.transport().counters().openConnections.sum());
  }

  private void assertNotConnected(byte[] endpoint) {
    assertThrows(
        TransportException.class,
        () -> connectTo(endpoint, owner.identity(), Deadline.after(mutantTimeout())));
  }

  private void assertTargetUntouched() {
    ByteBuffer buffer = target.slab().buffer();
    for (int i = DATA; i < SLAB_LENGTH; i++) {
      if (buffer.get(i) != FILL) {
        fail("byte " + i + " was written");
      }
    }
  }

  private void fillTarget() {
    overwrite(target.slab().buffer(), DATA, SLAB_LENGTH - DATA);
  }

  private static void overwrite(ReadBatch batch) {
    for (int i = 0; i < batch.size(); i++) {
      overwrite(batch.localSlab(i).slab().buffer(), batch.localOffset(i), batch.length(i));
    }
  }

  private static void overwrite(ByteBuffer buffer, int offset, int length) {
    byte[] fill = new byte[length];
    Arrays.fill(fill, FILL);
    buffer.put(offset, fill);
  }

  /** Offers until there is room, and checks that room is made by what completes. */
  private static void offerPatiently(
      Connection connection, ReadBatch batch, Outcome outcome, List<Outcome> earlier) {
    int awaited = 0;
    while (!connection.offer(batch, outcome)) {
      assertTrue(awaited < earlier.size(), "refused though nothing is outstanding");
      earlier.get(awaited++).await();
    }
  }

  /** True when a whole generation was read; fails when a torn one was taken for whole. */
  private boolean readOneGeneration(Connection connection, int length) {
    ByteBuffer buffer = target.slab().buffer();
    assertNull(read(connection, DATA, 8, DATA));
    long generation = buffer.getLong(DATA);
    ReadBatch batch = newBatch(2);
    add(batch, source, DATA + 8, length, target, DATA + 8);
    add(batch, source, DATA, 8, target, DATA);
    assertNull(offer(connection, batch).await());
    if (generation == 0 || buffer.getLong(DATA) != generation) {
      return false;
    }
    for (int i = DATA + 8; i < DATA + 8 + length; i += 8) {
      assertEquals(generation, buffer.getLong(i), "stale word at " + i);
    }
    return true;
  }

  private void readRepeatedly(Connection connection, int number, int count) {
    int length = 3000;
    int from = DATA + 5000 * number;
    int to = DATA + 7000 * number;
    ReadBatch batch = newBatch(1);
    for (int i = 0; i < count; i++) {
      batch.reset(deadline());
      add(batch, source, from + i, length, target, to);
      Outcome outcome = new Outcome();
      while (!connection.offer(batch, outcome)) {
        LockSupport.parkNanos(10_000);
      }
      assertNull(outcome.await());
      assertDelivered(source, from + i, length, to);
      assertEquals(1, outcome.calls());
    }
  }

  private void readInPlace(
      Connection connection, ReadBatch batch, Outcome outcome, Deadline deadline, int count) {
    for (int i = 0; i < count; i++) {
      batch.reset(deadline);
      add(batch, source, DATA + i, 512, target, DATA);
      add(batch, source, DATA + 2 * i, 8, target, DATA + 512);
      outcome.reset();
      if (!connection.offer(batch, outcome) || outcome.await() != null) {
        fail("batch " + i);
      }
    }
  }

  private void useAndClose() throws Exception {
    try (TransportNode one = openNode(identity("one", 3));
        TransportNode two = openNode(identity("two", 4))) {
      RegisteredSlab from = one.addFilledSlab(SLAB_LENGTH, 16);
      RegisteredSlab to = two.addSlab(SLAB_LENGTH, Access.LOCAL_WRITE);
      Connection connection =
          two.transport()
              .connect(one.transport().localEndpoint(), one.identity(), deadline())
              .get();
      ReadBatch batch = newBatch(1);
      add(batch, from, DATA, 1000, to, DATA);
      assertNull(offer(connection, batch).await());
    }
  }

  private static Set<String> threadNames() {
    Set<String> names = new TreeSet<>();
    Thread.getAllStackTraces().keySet().forEach(thread -> names.add(thread.getName()));
    return names;
  }

  private static int descriptorCount() {
    String[] names = new File("/proc/self/fd").list();
    return names == null ? 0 : names.length;
  }
}
