package io.rdmashuffle.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.store.MappedOutputs.Gauges;
import io.rdmashuffle.store.MappedOutputs.Limits;
import io.rdmashuffle.transport.Access;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MappedOutputsTest {
  private static final int MIB = 1 << 20;
  private static final long[] LENGTHS = {100, 0, 4900};
  private static final int LENGTH = 5000;
  private static final Gauges NOTHING = new Gauges(0, 0, 0);

  @TempDir private Path directory;

  private final FakeClock clock = new FakeClock();
  private final TestSlabs slabs = new TestSlabs();
  private final FakeTransport shm = new FakeTransport("shm");
  private final FakeTransport rdma = new FakeTransport("rdma");
  private SlabPool indexPool;
  private MappedOutputs outputs;

  private void open(int maxRegions, long maxBytes) {
    open(maxRegions, maxBytes, MIB);
  }

  private void open(int maxRegions, long maxBytes, long indexBytes) {
    indexPool = Pools.of(slabs, indexBytes, MIB, List.of(shm, rdma), clock);
    outputs =
        new MappedOutputs(
            indexPool,
            List.of(shm, rdma),
            new Limits(maxRegions, maxBytes),
            Pools.QUARANTINE.toNanos(),
            clock);
  }

  @AfterEach
  void nothingIsHeldInTheEnd() {
    outputs.close();
    outputs.close();
    assertEquals(NOTHING, outputs.gauges());
    assertEquals(0, shm.counters.registeredSlabs.sum());
    assertEquals(0, rdma.counters.registeredSlabs.sum());
    assertFalse(shm.closedAfterMemory, "registrations are closed before the memory");
    assertEquals(0, slabs.openCount());
  }

  private Path file(String name) throws IOException {
    byte[] bytes = new byte[LENGTH];
    new Random(name.hashCode()).nextBytes(bytes);
    return Files.write(directory.resolve(name), bytes);
  }

  private static OutputLayout layout(int shuffleId, long mapTaskId) {
    return OutputLayout.ofLengths(
        shuffleId, mapTaskId, LENGTHS, new long[] {7, 8, 9}, ChecksumAlgorithm.CRC32);
  }

  private MappedOutput map(int shuffleId, long mapTaskId) throws IOException {
    return outputs.map(layout(shuffleId, mapTaskId), file(shuffleId + "-" + mapTaskId));
  }

  private IndexBlock read(MappedOutput output) throws InvalidIndexException {
    IndexLocation location = output.location();
    byte[] bytes = new byte[location.length()];
    Readers.memory(indexPool).get(location.slabId()).get(location.offset(), bytes);
    return IndexBlock.decode(
        ByteBuffer.wrap(bytes),
        0,
        location,
        output.shuffleId(),
        output.mapTaskId(),
        LENGTHS.length,
        slabId -> 0);
  }

  @Test
  void theIndexBlockLeadsToTheFile() throws Exception {
    open(8, MIB);
    MappedOutput output = map(3, 4);
    IndexBlock index = read(output);
    assertTrue(index.header().isInFiles());
    assertEquals(100, index.partitionLength(0));
    assertEquals(4900, index.partitionLength(2));
    assertEquals(9, index.checksum(2));
    Slab window = output.windows().get(0);
    assertEquals(window.descriptor(), index.fileWindow(window.id()));
    assertEquals(List.of("shm", "rdma"), transportsOf(index.fileWindow(window.id())));
    assertNull(index.fileWindow(window.id() + 1));
    byte[] found = new byte[4900];
    index.forEachPiece(
        2,
        3,
        (slabId, offset, length) -> {
          assertEquals(window.id(), slabId);
          window.buffer().get(offset, found, 0, length);
        });
    byte[] all = Files.readAllBytes(directory.resolve("3-4"));
    assertArrayEquals(Arrays.copyOfRange(all, 100, LENGTH), found);
    assertEquals(Access.REMOTE_READ, rdma.lastAccess);
    assertTrue(window.buffer().isReadOnly());
  }

  private static List<String> transportsOf(SlabDescriptor window) {
    return window.registrations().stream().map(SlabDescriptor.Registration::transport).toList();
  }

  @Test
  void neitherRegionsNorBytesExceedTheirBounds() throws Exception {
    open(2, MIB);
    assertNotNull(map(1, 1));
    assertNotNull(map(1, 2));
    assertNull(map(1, 3));
    assertEquals(new Gauges(2, 2, 2 * LENGTH), outputs.gauges());
    outputs.close();

    open(8, 2 * LENGTH);
    assertNotNull(map(1, 1));
    assertNotNull(map(1, 2));
    assertNull(map(1, 3));
    assertEquals(new Gauges(2, 2, 2 * LENGTH), outputs.gauges());
    outputs.close();

    open(0, MIB);
    assertNull(map(1, 1));
  }

  @Test
  void whatIsRemovedIsVoidAtOnceAndUnmappedAfterTheQuarantine() throws Exception {
    open(1, MIB);
    MappedOutput output = map(1, 1);
    outputs.removeShuffle(1);
    assertThrows(StaleIndexException.class, () -> read(output));
    clock.advance(Pools.QUARANTINE.minusNanos(1));
    outputs.sweep();
    assertEquals(new Gauges(0, 1, LENGTH), outputs.gauges());
    assertEquals(1, rdma.counters.registeredSlabs.sum() - indexPool.gauges().slabs());
    output.windows().get(0).buffer().get(0); // still mapped
    assertNull(map(1, 2), "what is in quarantine counts");

    clock.advance(Duration.ofNanos(1));
    outputs.sweep();
    assertEquals(NOTHING, outputs.gauges());
    assertEquals(0, rdma.counters.registeredSlabs.sum() - indexPool.gauges().slabs());
    assertNotNull(map(1, 2));
  }

  @Test
  void oneThatIsReplacedIsVoid() throws Exception {
    open(4, MIB);
    MappedOutput former = map(1, 1);
    MappedOutput later = map(1, 1);
    assertThrows(StaleIndexException.class, () -> read(former));
    assertEquals(5000, read(later).length(0, 3));
    outputs.remove(former); // not the one that took its place
    assertEquals(new Gauges(1, 2, 2 * LENGTH), outputs.gauges());
    outputs.remove(later);
    outputs.remove(later);
    assertEquals(new Gauges(0, 2, 2 * LENGTH), outputs.gauges());
  }

  @Test
  void theOldestOfOtherShufflesMakeRoomForAQuarter() throws Exception {
    open(8, MIB);
    for (int mapTaskId = 0; mapTaskId < 4; mapTaskId++) {
      outputs.onAnnounced(map(1, mapTaskId));
      outputs.onAnnounced(map(2, mapTaskId));
    }
    assertNull(map(2, 9));
    List<MappedOutput> surplus = outputs.surplus(id -> id == 2);
    assertEquals(
        List.of(0L, 1L), surplus.stream().map(MappedOutput::mapTaskId).toList(), "two of eight");
    assertTrue(surplus.stream().allMatch(output -> output.shuffleId() == 1));
    surplus.forEach(outputs::remove);
    assertEquals(List.of(), outputs.surplus(id -> id == 2), "what is in quarantine is soon free");
    clock.advance(Pools.QUARANTINE);
    assertNotNull(map(2, 9));
  }

  @Test
  void bytesAreMadeRoomForToo() throws Exception {
    open(100, 4 * LENGTH);
    for (int mapTaskId = 0; mapTaskId < 4; mapTaskId++) {
      outputs.onAnnounced(map(1, mapTaskId));
    }
    assertEquals(1, outputs.surplus(id -> id == 2).size());
    assertEquals(List.of(), outputs.surplus(id -> id == 1));
  }

  @Test
  void anOutputStaysUntilReadersWereToldOfIt() throws Exception {
    open(1, MIB);
    MappedOutput output = map(1, 1);
    assertEquals(List.of(), outputs.surplus(id -> false));
    outputs.onAnnounced(output);
    assertEquals(List.of(output), outputs.surplus(id -> false));
  }

  @Test
  void indexBlocksAreMadeRoomForToo() throws Exception {
    open(10_000, 1L << 30, 8 * 4096);
    long mapTaskId = 0;
    MappedOutput output = map(1, mapTaskId);
    while (output != null) {
      outputs.onAnnounced(output);
      output = map(1, ++mapTaskId);
    }
    assertEquals(mapTaskId, outputs.gauges().regions(), "what finds no room holds none");
    long registrations = shm.counters.registrations.sum();
    assertNull(map(1, mapTaskId));
    assertEquals(registrations, shm.counters.registrations.sum(), "it was not even registered");
    List<MappedOutput> surplus = outputs.surplus(id -> false);
    assertTrue(
        surplus.size() >= mapTaskId / 4 && surplus.size() < mapTaskId / 2, surplus::toString);
    surplus.forEach(outputs::remove);
    assertEquals(List.of(), outputs.surplus(id -> false));
    clock.advance(Pools.QUARANTINE);
    assertNotNull(map(1, mapTaskId));
  }

  @Test
  void aTransportThatRefusesIsLeftOut() throws Exception {
    open(8, MIB);
    rdma.refuses = true;
    MappedOutput output = map(1, 1);
    IndexBlock index = read(output);
    assertEquals(List.of("shm"), transportsOf(index.fileWindow(output.windows().get(0).id())));
  }

  @Test
  void withoutATransportNothingIsMapped() throws Exception {
    open(8, MIB);
    rdma.refuses = true;
    shm.refuses = true;
    assertNull(map(1, 1));
    assertEquals(NOTHING, outputs.gauges());
    rdma.refuses = false;
    assertNotNull(map(1, 1));
  }

  @Test
  void aFileThatIsShortOrMissingIsNotMapped() throws Exception {
    open(8, MIB);
    assertNull(outputs.map(layout(1, 1), directory.resolve("none")));
    Path shorter = Files.write(directory.resolve("short"), new byte[LENGTH - 1]);
    assertNull(outputs.map(layout(1, 1), shorter));
    assertEquals(NOTHING, outputs.gauges());
  }

  @Test
  void anOutputWithoutBytesIsNotMapped() throws Exception {
    open(8, MIB);
    OutputLayout empty =
        OutputLayout.ofLengths(1, 1, new long[3], new long[0], ChecksumAlgorithm.NONE);
    assertNull(outputs.map(empty, directory.resolve("none")));
  }

  @Test
  void withoutRoomForTheIndexBlockNothingIsMapped() throws Exception {
    open(8, MIB, 0);
    assertNull(map(1, 1));
    assertEquals(NOTHING, outputs.gauges());
    assertEquals(0, shm.counters.registeredSlabs.sum());
  }

  @Test
  void onceClosedNothingIsMapped() throws Exception {
    open(8, MIB);
    MappedOutput lingering = map(1, 1);
    outputs.remove(lingering);
    map(1, 2);
    outputs.close();
    assertNull(map(1, 3));
    outputs.remove(lingering);
    outputs.removeShuffle(1);
    outputs.sweep();
  }
}
