package io.rdmashuffle.spark.tier;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.conf.Durability;
import io.rdmashuffle.spark.resolve.Resolvers;
import io.rdmashuffle.spark.tier.OutputTiers.WriteBehindSettings;
import io.rdmashuffle.store.ChecksumAlgorithm;
import io.rdmashuffle.store.MapOutput;
import io.rdmashuffle.store.MapOutputBuilder;
import io.rdmashuffle.store.OutputLayout;
import io.rdmashuffle.transport.Availability;
import io.rdmashuffle.transport.Deadline;
import io.rdmashuffle.transport.PeerIdentity;
import io.rdmashuffle.transport.sharedmemory.SharedMemoryTransport;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import java.util.zip.Adler32;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.apache.spark.shuffle.api.ShuffleMapOutputWriter;
import org.apache.spark.storage.ShuffleBlockId;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import scala.Option;

@Timeout(60)
final class OutputTiersTest {
  private static final int SHUFFLE = 7;
  private static final int[] LENGTHS = {70_000, 0, 1, 5_000_000, 0};

  @TempDir static Path localDir;
  private static JavaSparkContext context;

  @BeforeAll
  static void startContext() {
    context =
        new JavaSparkContext(
            new SparkConf()
                .setMaster("local[1]")
                .setAppName("test")
                .set("spark.local.dir", localDir.toString())
                .set("spark.ui.enabled", "false"));
  }

  @AfterAll
  static void stopContext() {
    context.stop();
  }

  @AfterEach
  void noFileIsLeft() throws IOException {
    assertEquals(List.of(), files());
  }

  private static List<String> files() throws IOException {
    try (Stream<Path> paths = Files.walk(localDir)) {
      return paths
          .filter(Files::isRegularFile)
          .map(path -> path.getFileName().toString())
          .sorted()
          .toList();
    }
  }

  private static byte[] bytes(long mapTaskId, int partition) {
    byte[] bytes = new byte[LENGTHS[partition]];
    new Random(mapTaskId * 31 + partition).nextBytes(bytes);
    return bytes;
  }

  private static long checksum(byte[] bytes) {
    Adler32 sum = new Adler32();
    sum.update(bytes);
    return sum.getValue();
  }

  private static MapOutput commit(TestTiers tiers, long mapTaskId) throws IOException {
    MapOutputBuilder builder = tiers.store().begin(SHUFFLE, mapTaskId, LENGTHS.length);
    long[] checksums = new long[LENGTHS.length];
    for (int i = 0; i < LENGTHS.length; i++) {
      byte[] bytes = bytes(mapTaskId, i);
      builder.startPartition(i);
      builder.write(bytes, 0, bytes.length);
      checksums[i] = checksum(bytes);
    }
    MapOutput output = builder.commit(checksums, ChecksumAlgorithm.ADLER32);
    tiers.tiers().onCommitted(output);
    return output;
  }

  private static void assertInFiles(long mapTaskId) throws IOException {
    IndexShuffleBlockResolver resolver = TestTiers.sparkResolver();
    long[] checksums = new long[LENGTHS.length];
    for (int i = 0; i < LENGTHS.length; i++) {
      ShuffleBlockId id = new ShuffleBlockId(SHUFFLE, mapTaskId, i);
      try (InputStream in = resolver.getBlockData(id, Option.empty()).createInputStream()) {
        assertArrayEquals(bytes(mapTaskId, i), in.readAllBytes());
      }
      checksums[i] = checksum(bytes(mapTaskId, i));
    }
    assertArrayEquals(
        checksums,
        resolver.getChecksums(
            resolver.getChecksumFile(SHUFFLE, mapTaskId, "ADLER32", Option.empty()),
            LENGTHS.length));
  }

  private static TestTiers tiers(Durability durability, long writeBehindBytes) {
    return new TestTiers(
        64 << 20,
        durability,
        new WriteBehindSettings(writeBehindBytes, TimeUnit.SECONDS.toNanos(30), true));
  }

  @Test
  void whatAStragglerWritesOfADroppedShuffleGoesAtOnce() throws Exception {
    for (Durability durability : List.of(Durability.MEMORY, Durability.MEMORY_AND_DISK)) {
      try (TestTiers tiers = tiers(durability, 64 << 20)) {
        commit(tiers, 1);
        tiers.isWanted = false;
        commit(tiers, 2);
        tiers.await("slabBytesLent", 0);
        tiers.endWriting();
        assertEquals(0, tiers.gauge("memoryOutputs"));
        assertEquals(0, tiers.gauge("fileOutputs"));
        assertEquals(List.of(), files());
      }
    }
  }

  @Test
  void whatAStragglerWroteToFilesOfADroppedShuffleGoesAtOnce() throws Exception {
    try (TestTiers tiers = withTransport(0, Durability.DISK)) {
      tiers.isWanted = false;
      ShuffleMapOutputWriter writer = tiers.tiers().newFileWriter(SHUFFLE, 1, 1);
      try (OutputStream out = writer.getPartitionWriter(0).openStream()) {
        out.write(bytes(1, 0));
      }
      writer.commitAllPartitions(new long[] {checksum(bytes(1, 0))});
      assertFalse(files().isEmpty());
      tiers
          .tiers()
          .onCommittedInFiles(
              OutputLayout.ofLengths(
                  SHUFFLE, 1, new long[] {LENGTHS[0]}, new long[0], ChecksumAlgorithm.NONE));
      assertEquals(List.of(), files());
      assertEquals(0, tiers.gauge("fileOutputs"));
      assertEquals(0, tiers.gauge("mappedOutputs"));
    }
  }

  @Test
  void memoryAloneWritesNoFile() throws Exception {
    try (TestTiers tiers = tiers(Durability.MEMORY, 64 << 20)) {
      commit(tiers, 1);
      assertEquals(1, tiers.published.get());
      tiers.endWriting();
      assertEquals(List.of(), files());
    }
  }

  @Test
  void writtenBehindAnOutputIsInMemoryAndInSparksFiles() throws Exception {
    try (TestTiers tiers = tiers(Durability.MEMORY_AND_DISK, 64 << 20)) {
      MapOutput output = commit(tiers, 1);
      assertEquals(1, tiers.published.get());
      tiers.await("fileOutputs", 1);
      assertInFiles(1);
      assertEquals(output.length(), tiers.gauge("fileOutputBytes"));
      assertEquals(output, tiers.store().get(SHUFFLE, 1));
      assertEquals(0, tiers.publishedInFiles.get());
      tiers.tiers().removeShuffle(SHUFFLE);
      assertEquals(0, tiers.gauge("fileOutputBytes"));
      assertEquals(0, tiers.allocatedBytes());
    }
  }

  @Test
  void theEndWaitsForFilesThatOutliveTheExecutor() throws Exception {
    try (TestTiers tiers = tiers(Durability.MEMORY_AND_DISK, 64 << 20)) {
      for (int i = 0; i < 4; i++) {
        commit(tiers, i);
      }
      tiers.endWriting();
      for (int i = 0; i < 4; i++) {
        assertInFiles(i);
      }
      tiers.tiers().removeShuffle(SHUFFLE);
    }
  }

  @Test
  void whatFindsNoRoomInTheQueueIsWrittenByItsTask() throws Exception {
    try (TestTiers tiers = tiers(Durability.MEMORY_AND_DISK, 0)) {
      commit(tiers, 1);
      assertInFiles(1);
      assertEquals(1, tiers.gauge("outputsWrittenThrough"));
      tiers.tiers().removeShuffle(SHUFFLE);
    }
  }

  @Test
  void filesThatCannotBeWrittenLeaveTheOutputInMemory() throws Exception {
    try (TestTiers tiers = tiers(Durability.MEMORY_AND_DISK, 64 << 20)) {
      // A directory where the index file is to be.
      Path index = TestTiers.sparkResolver().getIndexFile(SHUFFLE, 1, Option.empty()).toPath();
      Files.createDirectories(index.resolve("in the way"));
      commit(tiers, 1);
      tiers.await("failedFileWrites", 1);
      assertEquals(0, tiers.gauge("fileOutputs"));
      assertTrue(tiers.store().contains(SHUFFLE, 1));
      assertEquals(1, tiers.published.get());
      tiers.tiers().removeShuffle(SHUFFLE);
      Files.delete(index.resolve("in the way"));
      Files.delete(index);
    }
  }

  @Test
  void onDiskAloneTakesNoMemory() throws Exception {
    try (TestTiers tiers = tiers(Durability.DISK, 0)) {
      assertFalse(tiers.tiers().isInMemory());
    }
  }

  /** Room for two outputs and a little. */
  private static TestTiers shortOfMemory() {
    return new TestTiers(12 << 20, Durability.MEMORY, new WriteBehindSettings(1 << 20, 0, false));
  }

  private static boolean tryAgain(TestTiers tiers) {
    return tiers.tiers().awaitMemory(Deadline.after(Duration.ZERO));
  }

  @Test
  void outputsNobodyUsesMakeRoomOldestFirst() throws Exception {
    try (TestTiers tiers = shortOfMemory()) {
      commit(tiers, 1);
      commit(tiers, 2);
      assertFalse(tryAgain(tiers));
      tiers.await("outputsMoved", 1);
      assertFalse(tiers.store().contains(SHUFFLE, 1));
      assertTrue(tiers.store().contains(SHUFFLE, 2));
      assertInFiles(1);
      assertEquals(1, tiers.publishedInFiles.get());
      assertEquals(1, tiers.gauge("fileOutputs"));
      assertFalse(tryAgain(tiers));
      assertTrue(tiers.store().contains(SHUFFLE, 2), "a quarter of the budget is free now");
      assertEquals(2, tiers.gauge("outputsBeyondBudget"));
      tiers.tiers().removeShuffle(SHUFFLE);
    }
  }

  /** With a transport over which files can be read. */
  private static TestTiers withTransport(long budgetBytes, Durability durability) {
    SharedMemoryTransport transport =
        SharedMemoryTransport.open(
            new PeerIdentity("app", "1", new byte[PeerIdentity.TOKEN_LENGTH]),
            Availability.available("a test"));
    return new TestTiers(
        budgetBytes, durability, new WriteBehindSettings(1 << 20, 0, false), List.of(transport));
  }

  private static void commitToFiles(TestTiers tiers, int shuffleId, long mapTaskId)
      throws IOException {
    ShuffleMapOutputWriter writer =
        tiers.tiers().newFileWriter(shuffleId, mapTaskId, LENGTHS.length);
    for (int i = 0; i < LENGTHS.length; i++) {
      try (OutputStream out = writer.getPartitionWriter(i).openStream()) {
        out.write(bytes(mapTaskId, i));
      }
    }
    long[] lengths = writer.commitAllPartitions(new long[0]).getPartitionLengths();
    tiers
        .tiers()
        .onCommittedInFiles(
            OutputLayout.ofLengths(
                shuffleId, mapTaskId, lengths, new long[0], ChecksumAlgorithm.NONE));
  }

  @Test
  void anOutputMayFitUnlessThoseOfItsShuffleInFilesWereLarger() throws Exception {
    try (TestTiers tiers = shortOfMemory()) {
      assertTrue(tiers.tiers().mayFit(SHUFFLE), "nothing is known of it");
      commitToFiles(tiers, SHUFFLE, 1);
      assertTrue(tiers.tiers().mayFit(SHUFFLE), "there is room for two");
      commit(tiers, 2);
      commit(tiers, 3);
      assertFalse(tiers.tiers().mayFit(SHUFFLE));
      assertTrue(tiers.tiers().mayFit(SHUFFLE + 1), "nothing is known of it");
      tiers.store().remove(SHUFFLE, 3);
      assertTrue(tiers.tiers().mayFit(SHUFFLE));
      commit(tiers, 3);
      tiers.tiers().removeShuffle(SHUFFLE);
      assertTrue(tiers.tiers().mayFit(SHUFFLE));
    }
  }

  @Test
  void anOutputInFilesIsPublishedToBeReadThere() throws Exception {
    try (TestTiers tiers = withTransport(0, Durability.DISK)) {
      commitToFiles(tiers, SHUFFLE, 1);
      assertEquals(Set.of(1L), tiers.locations.keySet());
      assertEquals(0, tiers.publishedInFiles.get());
      assertEquals(1, tiers.gauge("mappedOutputs"));
      assertEquals(1, tiers.gauge("mappedRegions"));
      assertEquals(tiers.gauge("fileOutputBytes"), tiers.gauge("mappedBytes"));
      tiers.tiers().removeShuffle(SHUFFLE);
      tiers.tiers().sweep();
      tiers.await("mappedRegions", 0);
      assertEquals(0, tiers.gauge("mappedBytes"));
    }
  }

  @Test
  void anOutputReceivedIntoFilesIsPublishedByAnotherThread() throws Exception {
    try (TestTiers tiers = withTransport(0, Durability.DISK)) {
      ShuffleMapOutputWriter writer = tiers.tiers().newFileWriter(SHUFFLE, 1, LENGTHS.length);
      try (OutputStream out = writer.getPartitionWriter(0).openStream()) {
        out.write(bytes(1, 0));
      }
      long[] lengths = writer.commitAllPartitions(new long[0]).getPartitionLengths();
      tiers
          .tiers()
          .onReceivedInFiles(
              OutputLayout.ofLengths(SHUFFLE, 1, lengths, new long[0], ChecksumAlgorithm.NONE));
      assertEquals(1, tiers.gauge("fileOutputs"));
      tiers.await("mappedOutputs", 1);
      tiers.await("writeBehindBytes", 0);
      tiers.endWriting();
      assertEquals(Set.of(1L), tiers.locations.keySet());
      tiers.tiers().removeShuffle(SHUFFLE);
    }
  }

  @Test
  void filesOfAShuffleThatIsUsedDoNotMakeRoomForThoseOfAnother() throws Exception {
    try (TestTiers tiers = withTransport(0, Durability.DISK)) {
      commitToFiles(tiers, SHUFFLE, 1);
      commitToFiles(tiers, SHUFFLE, 2);
      tiers.tiers().beginUse(SHUFFLE);
      commitToFiles(tiers, SHUFFLE + 1, 9);
      tiers.tiers().endUse(SHUFFLE);
      tiers.endWriting();
      assertEquals(Set.of(1L, 2L), tiers.locations.keySet());
      tiers.tiers().removeShuffle(SHUFFLE);
      tiers.tiers().removeShuffle(SHUFFLE + 1);
    }
  }

  @Test
  void anOutputThatMovesToFilesIsPublishedThereBeforeItsMemoryGoes() throws Exception {
    try (TestTiers tiers = withTransport(12 << 20, Durability.MEMORY)) {
      MapOutput moved = commit(tiers, 1);
      commit(tiers, 2);
      assertFalse(tryAgain(tiers));
      tiers.await("outputsMoved", 1);
      assertNotEquals(moved.location(), tiers.locations.get(1L));
      assertEquals(3, tiers.published.get());
      assertEquals(0, tiers.publishedInFiles.get());
      assertEquals(1, tiers.gauge("mappedOutputs"));
      tiers.tiers().removeShuffle(SHUFFLE);
    }
  }

  @Test
  void anOutputInMemoryAndInFilesIsReadFromMemory() throws Exception {
    try (TestTiers tiers = withTransport(64 << 20, Durability.MEMORY_AND_DISK)) {
      MapOutput output = commit(tiers, 1);
      tiers.await("fileOutputs", 1);
      assertEquals(output.location(), tiers.locations.get(1L));
      assertEquals(0, tiers.gauge("mappedOutputs"));
      tiers.tiers().removeShuffle(SHUFFLE);
    }
  }

  @Test
  void beyondTheBoundEarlierShufflesAreReadOverTcpSoThatLaterOnesNeedNot() throws Exception {
    try (TestTiers tiers = withTransport(0, Durability.DISK)) {
      for (long mapTaskId = 1; mapTaskId <= TestTiers.MAX_MAPPED; mapTaskId++) {
        commitToFiles(tiers, SHUFFLE, mapTaskId);
      }
      commitToFiles(tiers, SHUFFLE, 8);
      assertEquals(1, tiers.publishedInFiles.get(), "of one shuffle the first stay");
      commitToFiles(tiers, SHUFFLE + 1, 9);
      tiers.await("mappedOutputs", TestTiers.MAX_MAPPED - 1);
      tiers.await("writeBehindBytes", 0);
      assertEquals(Set.of(2L), tiers.locations.keySet(), "the oldest gave way");
      commitToFiles(tiers, SHUFFLE + 1, 10);
      assertEquals(Set.of(2L, 10L), tiers.locations.keySet());
      tiers.tiers().removeShuffle(SHUFFLE);
      tiers.tiers().removeShuffle(SHUFFLE + 1);
    }
  }

  @Test
  void outputsOfAShuffleThatIsReadOrWrittenStay() throws Exception {
    try (TestTiers tiers = shortOfMemory()) {
      commit(tiers, 1);
      commit(tiers, 2);
      tiers.tiers().beginUse(SHUFFLE);
      tiers.tiers().beginUse(SHUFFLE);
      tiers.tiers().endUse(SHUFFLE);
      assertFalse(tryAgain(tiers));
      try (MapOutputBuilder builder = tiers.store().begin(SHUFFLE, 3, 1)) {
        builder.startPartition(0);
        tiers.tiers().endUse(SHUFFLE);
        assertFalse(tryAgain(tiers));
      }
      assertEquals(0, tiers.gauge("writeBehindBytes"));
      assertEquals(2, tiers.gauge("memoryOutputs"));
      assertFalse(tryAgain(tiers));
      tiers.await("outputsMoved", 1);
      tiers.tiers().removeShuffle(SHUFFLE);
    }
  }

  @Test
  void whileAnOutputMovesItsBlocksAreAlwaysThere() throws Exception {
    try (TestTiers tiers = shortOfMemory()) {
      commit(tiers, 1);
      commit(tiers, 2);
      IndexShuffleBlockResolver resolver =
          Resolvers.create(
              context.getConf().set("spark.app.id", "test"),
              (IndexShuffleBlockResolver) SparkEnv.get().shuffleManager().shuffleBlockResolver(),
              tiers::tiers);
      byte[] expected = bytes(1, 3);
      assertFalse(tryAgain(tiers));
      long afterTheMove = 0;
      while (afterTheMove < 2) {
        ManagedBuffer buffer =
            resolver.getBlockData(new ShuffleBlockId(SHUFFLE, 1, 3), Option.empty());
        try (InputStream in = buffer.createInputStream()) {
          assertArrayEquals(expected, in.readAllBytes());
        }
        buffer.release();
        afterTheMove += tiers.gauge("outputsMoved");
      }
      tiers.tiers().removeShuffle(SHUFFLE);
    }
  }

  /** Stops in the middle of writing until it is told to go on. */
  private static final class SlowFiles implements OutputFiles {
    final CountDownLatch writing = new CountDownLatch(1);
    final CountDownLatch goOn = new CountDownLatch(1);
    final AtomicInteger deleted = new AtomicInteger();

    @Override
    public void write(MapOutput output) throws IOException {
      writing.countDown();
      try {
        if (!goOn.await(30, TimeUnit.SECONDS)) {
          throw new IOException("nobody says to go on");
        }
      } catch (InterruptedException e) {
        throw new IOException(e);
      }
    }

    @Override
    public void delete(int shuffleId, long mapTaskId) {
      deleted.incrementAndGet();
    }
  }

  @Test
  void anOutputRemovedWhileItIsWrittenLeavesNoFile() throws Exception {
    SlowFiles files = new SlowFiles();
    FileTier fileTier = new FileTier(files);
    try (TestTiers tiers = tiers(Durability.MEMORY, 0)) {
      MapOutput output = commit(tiers, 1);
      CompletableFuture<Boolean> written =
          CompletableFuture.supplyAsync(() -> write(fileTier, output));
      assertTrue(files.writing.await(30, TimeUnit.SECONDS));
      assertFalse(fileTier.write(output), "another thread is at it");
      fileTier.removeShuffle(SHUFFLE);
      assertEquals(0, files.deleted.get(), "not while it is written");
      files.goOn.countDown();
      assertFalse(written.get(30, TimeUnit.SECONDS));
      assertEquals(1, files.deleted.get());
      assertFalse(fileTier.contains(SHUFFLE, 1));
      assertEquals(0, fileTier.dataBytes());
    }
  }

  private static boolean write(FileTier fileTier, MapOutput output) {
    try {
      return fileTier.write(output);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }
}
