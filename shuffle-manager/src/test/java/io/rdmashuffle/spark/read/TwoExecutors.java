package io.rdmashuffle.spark.read;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.rdmashuffle.spark.ReadAccounting;
import io.rdmashuffle.spark.directory.DirectoryClient;
import io.rdmashuffle.spark.directory.DirectoryException;
import io.rdmashuffle.spark.directory.ExecutorRecord;
import io.rdmashuffle.spark.directory.LocalDirectory;
import io.rdmashuffle.spark.directory.OutputRecord;
import io.rdmashuffle.spark.directory.SlabRecord;
import io.rdmashuffle.store.BlockStore;
import io.rdmashuffle.store.ChecksumAlgorithm;
import io.rdmashuffle.store.IndexBlockCache;
import io.rdmashuffle.store.IndexLocation;
import io.rdmashuffle.store.MapOutput;
import io.rdmashuffle.store.MapOutputBuilder;
import io.rdmashuffle.store.MappedOutput;
import io.rdmashuffle.store.MappedOutputs;
import io.rdmashuffle.store.OutputLayout;
import io.rdmashuffle.store.ReceivePool;
import io.rdmashuffle.transport.Access;
import io.rdmashuffle.transport.Availability;
import io.rdmashuffle.transport.Deadline;
import io.rdmashuffle.transport.FaultGenerator;
import io.rdmashuffle.transport.FaultyTransport;
import io.rdmashuffle.transport.PeerIdentity;
import io.rdmashuffle.transport.SlabFactories;
import io.rdmashuffle.transport.SlabFactory;
import io.rdmashuffle.transport.SlabMemory;
import io.rdmashuffle.transport.Transport;
import io.rdmashuffle.transport.sharedmemory.SharedMemoryTransport;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.zip.Adler32;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;
import java.util.zip.Checksum;
import org.apache.spark.network.shuffle.DownloadFileManager;

/**
 * Two executors in this process: "owner" holds map outputs in slabs that lie in shared memory,
 * "reader" reads them, through faults or without. Closed as a whole; {@link #assertClean} says
 * whether everything was given back.
 */
final class TwoExecutors implements AutoCloseable {
  static final String OWNER = "owner";
  static final int SLAB_LENGTH = ReaderSide.SLAB_LENGTH;

  private static final Path MEMORY = Path.of("/dev/shm");
  private static final String APPLICATION = "app-1";

  final LocalDirectory directory = new LocalDirectory();
  final FakeTcpClient tcp = new FakeTcpClient(this::content);
  final BlockStore store;
  final MappedOutputs mapped;
  final Transport transport;

  // The reader's, see ReaderSide.
  final ReadAccounting accounting;
  final IndexBlockCache indexCache;
  final ReceivePool receivePool;
  final ReadServices services;
  final OneSidedBlockStoreClient client;
  final ExecutorService continuations;

  private final ReaderSide readerSide;
  private final PeerIdentity self = identity(OWNER, 1);
  private final SharedMemoryTransport ownerTransport;
  private final DirectoryClient ownerDirectory;
  private final Map<String, byte[]> partitions = new ConcurrentHashMap<>();
  private final Map<Integer, ByteBuffer> ownerMemory = new ConcurrentHashMap<>();
  private final Random random = new Random(1);
  private UnaryOperator<OutputRecord> published = UnaryOperator.identity();

  TwoExecutors(FaultGenerator faults, String... settings) throws Exception {
    this(true, faults, 8, settings);
  }

  /** Without faults, over the transport as it is, which completes inline. */
  TwoExecutors(String... settings) throws Exception {
    this(false, FaultGenerator.none(), 8, settings);
  }

  /**
   * @param receiveSlabs how many slabs of receive memory the reader has
   * @param settings keys without their prefix, each followed by its value
   */
  TwoExecutors(boolean isFaulty, FaultGenerator faults, int receiveSlabs, String... settings)
      throws Exception {
    this(
        plain -> isFaulty ? new FaultyTransport(plain, faults, Duration.ofMillis(5)) : plain,
        64 * SLAB_LENGTH,
        receiveSlabs,
        settings);
  }

  /**
   * @param wrapper makes the reader's transport of the one over shared memory
   * @param ownerBytes how much memory the owner has
   * @param receiveSlabs how many slabs of receive memory the reader has
   * @param settings keys without their prefix, each followed by its value
   */
  TwoExecutors(
      UnaryOperator<Transport> wrapper, int ownerBytes, int receiveSlabs, String... settings)
      throws Exception {
    SlabFactory ownerSlabs = remembering(SlabFactories.open(MEMORY, self));
    ownerTransport = SharedMemoryTransport.open(self, ownerSlabs.shareable());
    store =
        new BlockStore(
            ReaderSide.pool("outputs", ownerSlabs, ownerTransport, Access.REMOTE_READ, ownerBytes));
    PeerIdentity reader = identity("reader", 2);
    SlabFactory readerSlabs = SlabFactories.open(MEMORY, reader);
    transport = wrapper.apply(SharedMemoryTransport.open(reader, readerSlabs.shareable()));
    mapped =
        new MappedOutputs(
            ReaderSide.pool(
                "indexes", ownerSlabs, ownerTransport, Access.REMOTE_READ, 2 * SLAB_LENGTH),
            List.of(ownerTransport),
            new MappedOutputs.Limits(64, 1 << 30),
            Duration.ofMinutes(1));
    ownerDirectory = directory.client(OWNER);
    register(self);
    readerSide =
        new ReaderSide(
            APPLICATION,
            directory.client("reader"),
            tcp,
            transport,
            readerSlabs,
            receiveSlabs,
            ReaderSide.conf(settings));
    accounting = readerSide.accounting;
    indexCache = readerSide.indexCache;
    receivePool = readerSide.receivePool;
    services = readerSide.services;
    client = readerSide.client;
    continuations = readerSide.continuations;
  }

  private SlabFactory remembering(SlabFactory slabs) {
    return new SlabFactory() {
      @Override
      public SlabMemory create(int length) throws IOException {
        SlabMemory slab = slabs.create(length);
        ownerMemory.put(slab.id(), slab.buffer());
        return slab;
      }

      @Override
      public Availability shareable() {
        return slabs.shareable();
      }
    };
  }

  /** How peers find the owner. */
  byte[] ownerEndpoint() {
    return ownerTransport.localEndpoint();
  }

  /** The owner's memory, for tests that spoil it. */
  ByteBuffer memoryOfSlab(int slabId) {
    return ownerMemory.get(slabId);
  }

  static PeerIdentity identity(String executorId, int seed) {
    byte[] token = new byte[PeerIdentity.TOKEN_LENGTH];
    new Random(seed).nextBytes(token);
    return new PeerIdentity(APPLICATION, executorId, token);
  }

  /** Lists the owner with the driver, perhaps under another token than its slabs carry. */
  void register(PeerIdentity as) throws Exception {
    ExecutorRecord record =
        new ExecutorRecord(
            OWNER,
            "localhost",
            as.token(),
            Map.of(
                "shm",
                SharedMemoryTransport.open(as, ownerTransport.availability()).localEndpoint()),
            List.of());
    ownerDirectory.register(record, soon());
  }

  static Deadline soon() {
    return Deadline.after(Duration.ofSeconds(20));
  }

  /** From now on something else is published than what was committed. */
  void publishInstead(UnaryOperator<OutputRecord> change) {
    published = change;
  }

  MapOutput write(int shuffleId, long mapTaskId, int... lengths) throws Exception {
    return write(ChecksumAlgorithm.NONE, shuffleId, mapTaskId, lengths);
  }

  /** Writes and publishes an output of random bytes. */
  MapOutput write(ChecksumAlgorithm algorithm, int shuffleId, long mapTaskId, int... lengths)
      throws Exception {
    long[] checksums = new long[algorithm == ChecksumAlgorithm.NONE ? 0 : lengths.length];
    MapOutputBuilder builder = store.begin(shuffleId, mapTaskId, lengths.length);
    for (int i = 0; i < lengths.length; i++) {
      byte[] bytes = newPartition(shuffleId, mapTaskId, i, lengths[i]);
      if (lengths[i] > 0) {
        builder.startPartition(i);
        builder.write(bytes, 0, bytes.length);
      }
      if (checksums.length > 0) {
        checksums[i] = checksum(algorithm, bytes);
      }
    }
    MapOutput output = builder.commit(checksums, algorithm);
    publish(output);
    return output;
  }

  /** Writes an output of random bytes to a file, and publishes that. */
  MappedOutput writeFile(Path file, int shuffleId, long mapTaskId, int... lengths)
      throws Exception {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (int i = 0; i < lengths.length; i++) {
      all.writeBytes(newPartition(shuffleId, mapTaskId, i, lengths[i]));
    }
    Files.write(file, all.toByteArray());
    OutputLayout layout =
        OutputLayout.ofLengths(
            shuffleId,
            mapTaskId,
            IntStream.of(lengths).asLongStream().toArray(),
            new long[0],
            ChecksumAlgorithm.NONE);
    MappedOutput output = mapped.map(layout, file);
    publish(shuffleId, mapTaskId, output.location());
    return output;
  }

  private static long checksum(ChecksumAlgorithm algorithm, byte[] bytes) {
    Checksum checksum =
        switch (algorithm) {
          case ADLER32 -> new Adler32();
          case CRC32 -> new CRC32();
          case CRC32C -> new CRC32C();
          case NONE -> throw new IllegalArgumentException();
        };
    checksum.update(bytes, 0, bytes.length);
    return checksum.getValue();
  }

  /** Random bytes that are the right ones of a partition from now on. */
  byte[] newPartition(int shuffleId, long mapTaskId, int partition, int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    partitions.put(shuffleId + "_" + mapTaskId + "_" + partition, bytes);
    return bytes;
  }

  void publish(MapOutput output) throws Exception {
    publish(output.shuffleId(), output.mapTaskId(), output.location());
  }

  private void publish(int shuffleId, long mapTaskId, IndexLocation location) throws Exception {
    publish(
        new OutputRecord(
            shuffleId,
            mapTaskId,
            location.slabId(),
            location.offset(),
            location.length(),
            location.generation()));
  }

  void publish(OutputRecord record) throws DirectoryException, InterruptedException {
    List<SlabRecord> slabs = new ArrayList<>();
    store.pool().slabTable().slabs().stream().map(SlabRecord::of).forEach(slabs::add);
    mapped.indexPool().slabTable().slabs().stream().map(SlabRecord::of).forEach(slabs::add);
    directory.driver().registerShuffle(record.shuffleId());
    ownerDirectory.publish(published.apply(record), slabs, soon());
  }

  /** The right bytes of a block. */
  byte[] content(String name) {
    String[] fields = name.split("_", -1);
    int start = Integer.parseInt(fields[3]);
    int end = fields.length > 4 ? Integer.parseInt(fields[4]) : start + 1;
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (int i = start; i < end; i++) {
      byte[] bytes = partitions.get(fields[1] + "_" + fields[2] + "_" + i);
      if (bytes != null) {
        all.writeBytes(bytes);
      }
    }
    return all.toByteArray();
  }

  Fetch fetch(String... names) {
    return fetch(false, names);
  }

  Fetch fetch(boolean keeps, String... names) {
    Fetch fetch = new Fetch(names, keeps);
    client.fetchBlocks("localhost", 7337, OWNER, names, fetch, null);
    return fetch;
  }

  /** As Spark does for blocks that it wants in files. */
  Fetch fetchToFiles(DownloadFileManager files, String... names) {
    Fetch fetch = new Fetch(names, false);
    client.fetchBlocks("localhost", 7337, OWNER, names, fetch, files);
    return fetch;
  }

  /** As when the plugin is being stopped. */
  void stopFileReads() {
    readerSide.refuseFileReads();
  }

  /** Every block right, and gone these ways: {@code "shm", 3, "STALE", 1}. */
  void assertRight(Fetch fetch, Object... expected) {
    fetch.assertAllRight(this::content);
    assertCounts(expected);
  }

  /** How many blocks were read over {@code shm} and {@code tcp}, or fell back for a reason. */
  void assertCounts(Object... expected) {
    Map<String, Long> counts = new HashMap<>();
    accounting
        .snapshot()
        .forEach(
            (name, value) -> {
              if (!name.startsWith(ReadAccounting.BYTES)) {
                counts.put(name.substring(name.indexOf('.') + 1), value);
              }
            });
    Map<String, Long> wanted = new HashMap<>();
    for (int i = 0; i < expected.length; i += 2) {
      wanted.put((String) expected[i], ((Number) expected[i + 1]).longValue());
    }
    assertEquals(wanted, counts);
  }

  /** Bytes over all ways. */
  long bytesRead() {
    return accounting.snapshot().entrySet().stream()
        .filter(entry -> entry.getKey().startsWith(ReadAccounting.BYTES))
        .mapToLong(Map.Entry::getValue)
        .sum();
  }

  /**
   * All receive memory is back, nobody waits for any, and no output is pinned. The client gives its
   * own reference up after the last block was told, on whatever thread told it.
   */
  void assertClean() throws InterruptedException {
    long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    while (receivePool.pool().gauges().allocatedBytes() != 0 && System.nanoTime() - endNs < 0) {
      Thread.sleep(1);
    }
    assertEquals(0, receivePool.pool().gauges().allocatedBytes(), "receive memory in use");
    assertEquals(0, receivePool.waiterCount());
    store.outputs().forEach(output -> store.remove(output.shuffleId(), output.mapTaskId()));
    assertEquals(0, store.pool().gauges().allocatedBytes(), "pinned outputs");
  }

  @Override
  public void close() {
    readerSide.close();
    ownerDirectory.close();
    store.close();
    mapped.close();
    ownerTransport.close();
  }
}
