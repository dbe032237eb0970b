package io.rdmashuffle.spark.read;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.spark.directory.ExecutorRecord;
import io.rdmashuffle.spark.directory.OutputRecord;
import io.rdmashuffle.spark.directory.SlabRecord;
import io.rdmashuffle.store.ChecksumAlgorithm;
import io.rdmashuffle.store.MapOutput;
import io.rdmashuffle.transport.Fault;
import io.rdmashuffle.transport.FaultGenerator;
import io.rdmashuffle.transport.FixedFault;
import io.rdmashuffle.transport.PeerFault;
import io.rdmashuffle.transport.PeerIdentity;
import io.rdmashuffle.transport.RandomFault;
import io.rdmashuffle.transport.Transport;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.UnaryOperator;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests end to end: real outputs, real directory, real shared memory, a fake TCP client. */
@Timeout(120)
final class FetchRequestTest {
  private static int[] lengths(int count, int length) {
    int[] lengths = new int[count];
    Arrays.fill(lengths, length);
    return lengths;
  }

  private static String[] names(int shuffleId, int maps, int... reducers) {
    List<String> names = new ArrayList<>();
    for (int map = 0; map < maps; map++) {
      for (int reducer : reducers) {
        names.add("shuffle_" + shuffleId + "_" + map + "_" + reducer);
      }
    }
    return names.toArray(new String[0]);
  }

  private static TwoExecutors pairWithOutputs(FaultGenerator faults, String... settings)
      throws Exception {
    TwoExecutors pair = new TwoExecutors(faults, settings);
    for (int map = 0; map < 3; map++) {
      pair.write(1, map, 1000 + map, 0, 3000);
    }
    return pair;
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void readsBlocksOneSidedInline(boolean isFaulty) throws Exception {
    try (TwoExecutors pair = new TwoExecutors(isFaulty, FaultGenerator.none(), 8)) {
      for (int map = 0; map < 5; map++) {
        pair.write(1, map, 1000 + map, 0, 3000, 1);
      }
      pair.assertRight(pair.fetch(names(1, 5, 0, 2, 3)), "shm", 15);
      Fetch batch = pair.fetch("shuffle_1_0_0_4", "shuffle_1_3_1_3", "shuffle_1_4_1");
      pair.assertRight(batch, "shm", 18);
      assertEquals(5, pair.indexCache.size());
      pair.assertClean();
    }
  }

  @Test
  void outputsOverManyExtentsAndSlabsAreReadWhole() throws Exception {
    try (TwoExecutors pair = new TwoExecutors("readChunkSize", "4k")) {
      pair.write(1, 0, 100_000, 3_000_000, 7, 500_000);
      pair.assertRight(pair.fetch("shuffle_1_0_0", "shuffle_1_0_1", "shuffle_1_0_3"), "shm", 3);
      pair.assertRight(pair.fetch("shuffle_1_0_0_4"), "shm", 4);
      assertEquals(2L * 3_600_000 + 7, pair.bytesRead());
      pair.assertClean();
    }
  }

  @Test
  void manySmallBlocksTakeSeveralGroups() throws Exception {
    try (TwoExecutors pair =
        new TwoExecutors(FaultGenerator.none(), "maxReadsInFlightPerPeer", "16")) {
      for (int map = 0; map < 200; map++) {
        pair.write(1, map, 40, 50);
      }
      pair.assertRight(pair.fetch(names(1, 200, 0, 1)), "shm", 400);
      pair.assertClean();
    }
  }

  @Test
  void aLargeIndexBlockIsReadInSlices() throws Exception {
    ReadHook hook = new ReadHook();
    List<Integer> lengths = new ArrayList<>();
    hook.set(
        (number, length) -> {
          lengths.add(length);
          return Fault.NONE;
        });
    try (TwoExecutors pair = new TwoExecutors(hook)) {
      int[] partitions = lengths(20_000, 10);
      MapOutput output = pair.write(ChecksumAlgorithm.CRC32C, 1, 0, partitions);
      pair.write(1, 1, 10, 20, 30);
      assertTrue(output.location().length() > IndexGroup.MAX_WHOLE_BYTES);
      pair.assertRight(
          pair.fetch("shuffle_1_0_0", "shuffle_1_0_7_9", "shuffle_1_0_19999", "shuffle_1_1_2"),
          "shm",
          4);
      pair.assertRight(pair.fetch("shuffle_1_0_19998_20000", "shuffle_1_0_4_6"), "shm", 6);
      assertEquals(1, pair.indexCache.size(), "only whole index blocks are kept");
      lengths.clear();
      pair.assertRight(pair.fetch("shuffle_1_0_77"), "shm", 7);
      assertTrue(lengths.stream().mapToInt(Integer::intValue).sum() < 1000, lengths.toString());
      pair.assertClean();
    }
  }

  @Test
  void partitionsOfALargeIndexBlockThatAreNotThereGoToTcp() throws Exception {
    try (TwoExecutors pair = new TwoExecutors()) {
      pair.write(1, 0, lengths(20_000, 10));
      Fetch fetch = pair.fetch("shuffle_1_0_20000", "shuffle_1_0_5");
      pair.assertRight(fetch, "BAD_INDEX", 2, "tcp", 2);
      pair.assertClean();
    }
  }

  @Test
  void indexBlocksLargerThanReceiveMemoryAreReadInTurns() throws Exception {
    try (TwoExecutors pair = new TwoExecutors(false, FaultGenerator.none(), 1)) {
      for (int map = 0; map < 40; map++) {
        pair.write(1, map, lengths(7_000, 1)); // 56 KB of index each, 2.2 MB in all
      }
      pair.assertRight(pair.fetch(names(1, 40, 5)), "shm", 40);
      pair.assertClean();
    }
  }

  @Test
  void partitionThatIsNotThereGoesToTcp() throws Exception {
    try (TwoExecutors pair = pairWithOutputs(FaultGenerator.none())) {
      Fetch fetch = pair.fetch("shuffle_1_0_0", "shuffle_1_0_3", "shuffle_1_1_0_900");
      pair.assertRight(fetch, "shm", 1, "BAD_INDEX", 2, "tcp", 2);
      pair.assertClean();
    }
  }

  @Test
  void foreignAndMalformedNamesAreLeftToSpark() throws Exception {
    try (TwoExecutors pair = pairWithOutputs(FaultGenerator.none())) {
      pair.fetch("shuffle_1_0_2_2").await();
      pair.assertCounts("tcp", 1);
      pair.fetch("shuffle_1_0_0", "shuffle_2_0_0").await();
      pair.assertCounts("tcp", 3);
      assertEquals(1000, pair.bytesRead());
    }
  }

  @Test
  void outputsThatAreNotListedGoToTcp() throws Exception {
    try (TwoExecutors pair = pairWithOutputs(FaultGenerator.none())) {
      pair.publish(OutputRecord.inFiles(1, 7));
      Fetch fetch = pair.fetch("shuffle_1_0_0", "shuffle_1_5_0", "shuffle_1_7_0", "shuffle_1_7_1");
      pair.assertRight(fetch, "shm", 1, "LOCATION_UNKNOWN", 1, "FILE_TIER", 2, "tcp", 3);
      pair.assertClean();
    }
  }

  @Test
  void unknownExecutorGoesToTcpAndIsForgotten() throws Exception {
    try (TwoExecutors pair = pairWithOutputs(FaultGenerator.none())) {
      pair.assertRight(pair.fetch(names(1, 3, 0)), "shm", 3);
      assertEquals(1, pair.transport.counters().openConnections.sum());
      Fetch other = new Fetch(new String[] {"shuffle_1_0_0"}, false);
      pair.client.fetchBlocks(
          "localhost", 1, "nobody", new String[] {"shuffle_1_0_0"}, other, null);
      pair.assertRight(other, "shm", 3, "PEER_UNKNOWN", 1, "tcp", 1);

      pair.directory.driver().removeExecutor(TwoExecutors.OWNER);
      pair.services.directory().forgetExecutor(TwoExecutors.OWNER);
      pair.assertRight(pair.fetch(names(1, 3, 0)), "shm", 3, "PEER_UNKNOWN", 4, "tcp", 4);
      assertEquals(0, pair.transport.counters().openConnections.sum());
      assertEquals(0, pair.indexCache.size());
      pair.assertClean();
    }
  }

  @Test
  void outputListedForAnotherExecutorGoesToTcp() throws Exception {
    try (TwoExecutors pair = pairWithOutputs(FaultGenerator.none())) {
      pair.directory
          .driver()
          .register(
              new ExecutorRecord(
                  "third",
                  "localhost",
                  TwoExecutors.identity("third", 3).token(),
                  Map.of(),
                  List.of(new SlabRecord(9, 4096, Map.of()))));
      Fetch fetch = new Fetch(names(1, 3, 0), false);
      pair.client.fetchBlocks("localhost", 1, "third", names(1, 3, 0), fetch, null);
      pair.assertRight(fetch, "LOCATION_UNKNOWN", 3, "tcp", 3);
    }
  }

  @Test
  void staleBeforeTheIndexIsRead() throws Exception {
    ReadHook hook = new ReadHook();
    try (TwoExecutors pair = pairWithOutputs(hook)) {
      hook.before(1, () -> pair.store.remove(1, 1));
      pair.assertRight(pair.fetch(names(1, 3, 0, 2)), "shm", 4, "STALE", 2, "tcp", 2);
      pair.assertClean();
    }
  }

  @Test
  void staleBetweenIndexAndData() throws Exception {
    ReadHook hook = new ReadHook();
    try (TwoExecutors pair = pairWithOutputs(hook)) {
      hook.before(4, () -> overwrite(pair, 1)); // three index blocks come first
      pair.assertRight(pair.fetch(names(1, 3, 0, 2)), "shm", 4, "STALE", 2, "tcp", 2);
      assertEquals(2, pair.indexCache.size(), "the stale index block is dropped");
      pair.assertClean();
    }
  }

  @Test
  void staleAfterTheDataAndBeforeTheGeneration() throws Exception {
    ReadHook hook = new ReadHook();
    try (TwoExecutors pair = new TwoExecutors(hook, "readChunkSize", "4k")) {
      pair.write(1, 0, 600_000); // 147 reads, so the generation is in a batch of its own
      hook.set(
          (number, length) -> {
            if (number > 2 && length == Long.BYTES) {
              overwrite(pair, 0);
            }
            return Fault.NONE;
          });
      pair.assertRight(pair.fetch("shuffle_1_0_0"), "STALE", 1, "tcp", 1);
      pair.assertClean();
    }
  }

  @Test
  void whatWasFreedAfterItWasReadIsDelivered() throws Exception {
    try (TwoExecutors pair = pairWithOutputs(FaultGenerator.none())) {
      Fetch fetch = pair.fetch(true, names(1, 3, 0, 2));
      overwrite(pair, 0);
      pair.assertRight(fetch, "shm", 6);
      fetch.release();
      pair.assertClean();
    }
  }

  /** Frees an output and puts something else in its place. */
  private static void overwrite(TwoExecutors pair, int map) {
    pair.store.remove(1, map);
    try {
      pair.write(9, map, 700_000);
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void corruptIndexBlocksGoToTcp() throws Exception {
    // Header, the offset of the first partition, the end of the last, and the extent.
    int[] positions = {0, 4, 16, 20, 24, 32, 36, 38, 40, 64, 80, 88, 92};
    for (int position : positions) {
      try (TwoExecutors pair = pairWithOutputs(FaultGenerator.none())) {
        MapOutput output = pair.store.get(1, 1);
        ByteBuffer memory = memoryOf(pair, output);
        int at = output.location().offset() + position;
        memory.put(at, (byte) (memory.get(at) ^ 0x55));
        Fetch fetch = pair.fetch(names(1, 3, 0, 2));
        fetch.assertAllRight(pair::content);
        pair.assertCounts("shm", 4, "BAD_INDEX", 2, "tcp", 2);
        assertEquals(0, pair.receivePool.pool().gauges().allocatedBytes());
        memory.put(at, (byte) (memory.get(at) ^ 0x55)); // the owner needs it to count pins
        pair.assertClean();
      }
    }
  }

  private static ByteBuffer memoryOf(TwoExecutors pair, MapOutput output) {
    return pair.memoryOfSlab(output.location().slabId());
  }

  @Test
  void misleadingLocationsGoToTcp() throws Exception {
    try (TwoExecutors pair = new TwoExecutors()) {
      List<UnaryOperator<OutputRecord>> changes =
          List.of(
              r -> elsewhere(r, 0, r.indexLength(), r.generation()),
              r -> elsewhere(r, r.offset() + 64, r.indexLength(), r.generation()),
              r -> elsewhere(r, r.offset(), r.indexLength() + 8, r.generation()),
              r -> elsewhere(r, r.offset(), 39, r.generation()),
              r -> elsewhere(r, 4096, 900_000, r.generation()),
              r -> elsewhere(r, r.offset(), r.indexLength(), r.generation() + 1),
              r -> elsewhere(r, r.offset(), r.indexLength(), 0));
      for (int i = 0; i < changes.size(); i++) {
        pair.publishInstead(changes.get(i));
        pair.write(1, i, 10, 20);
      }
      pair.fetch(names(1, changes.size(), 0, 1)).assertAllRight(pair::content);
      assertEquals(2L * changes.size(), pair.accounting.snapshot().get("blocks.tcp"));
      pair.assertClean();
    }
  }

  private static OutputRecord elsewhere(
      OutputRecord record, long offset, int indexLength, long generation) {
    return new OutputRecord(
        record.shuffleId(), record.mapTaskId(), record.slabId(), offset, indexLength, generation);
  }

  @Test
  void aReadErrorHandsTheRestToTcpAndReconnects() throws Exception {
    try (TwoExecutors pair = pairWithOutputs(FixedFault.onRead(5, Fault.ERROR))) {
      pair.assertRight(pair.fetch(names(1, 3, 0, 2)), "READ_FAILED", 6, "tcp", 6);
      pair.assertRight(pair.fetch(names(1, 3, 0)), "READ_FAILED", 6, "tcp", 6, "shm", 3);
      pair.assertClean();
    }
  }

  @Test
  void anErrorOfTheIndexReadHandsAllToTcp() throws Exception {
    try (TwoExecutors pair = pairWithOutputs(FixedFault.onRead(2, Fault.ERROR))) {
      pair.assertRight(pair.fetch(names(1, 3, 0, 2)), "READ_FAILED", 6, "tcp", 6);
      pair.assertClean();
    }
  }

  @Test
  void aReadThatNeverEndsCostsOneDeadline() throws Exception {
    try (TwoExecutors pair =
        pairWithOutputs(FixedFault.onRead(4, Fault.MISSING), "read.timeout", "200ms")) {
      pair.assertRight(pair.fetch(names(1, 3, 0, 2)), "READ_TIMEOUT", 6, "tcp", 6);
      pair.assertClean();
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = Fault.class,
      names = {"ERROR", "MISSING"})
  void aPeerThatDoesNotConnectIsLeftAloneAfterTheSecondTry(Fault fault) throws Exception {
    int[] connects = {0};
    FaultGenerator counting =
        new FaultGenerator() {
          @Override
          public Fault onConnect(PeerIdentity peer) {
            connects[0]++;
            return Fault.NONE;
          }
        };
    PeerFault peers = new PeerFault().set(TwoExecutors.OWNER, fault);
    try (TwoExecutors pair =
        pairWithOutputs(
            counting.and(peers),
            "connect.timeout",
            "100ms",
            "peer.backoff",
            "30m",
            "peer.maxBackoff",
            "1h")) {
      String reason = fault == Fault.ERROR ? "CONNECT_REJECTED" : "CONNECT_TIMEOUT";
      for (int i = 1; i <= 4; i++) {
        pair.assertRight(pair.fetch(names(1, 3, 0)), reason, 3 * i, "tcp", 3 * i);
      }
      assertEquals(2, connects[0]);
      pair.assertClean();
    }
  }

  @Test
  void waitsForReceiveMemory() throws Exception {
    try (TwoExecutors pair = new TwoExecutors(false, FaultGenerator.none(), 1)) {
      pair.write(1, 0, 700_000, 700_000);
      Fetch first = pair.fetch(true, "shuffle_1_0_0").await();
      Fetch second = pair.fetch("shuffle_1_0_1");
      assertTrue(!second.isTold("shuffle_1_0_1"));
      first.release();
      pair.assertRight(second, "shm", 2);
      pair.assertRight(first, "shm", 2);
      pair.assertClean();
    }
  }

  @Test
  void goesToTcpWhenReceiveMemoryDoesNotBecomeFree() throws Exception {
    try (TwoExecutors pair =
        new TwoExecutors(false, FaultGenerator.none(), 1, "read.timeout", "100ms")) {
      pair.write(1, 0, 700_000, 700_000, 2_000_000);
      Fetch first = pair.fetch(true, "shuffle_1_0_0").await();
      pair.assertRight(pair.fetch("shuffle_1_0_1"), "shm", 1, "NO_RECEIVE_BUFFER", 1, "tcp", 1);
      first.release();
      pair.assertRight(pair.fetch("shuffle_1_0_2"), "shm", 1, "NO_RECEIVE_BUFFER", 2, "tcp", 2);
      assertEquals(1, pair.transport.counters().openConnections.sum(), "no fault of the peer's");
      pair.assertClean();
    }
  }

  @Test
  void requestsThatWaitWhenThePluginStopsAreNotLost() throws Exception {
    try (TwoExecutors pair = new TwoExecutors(false, FaultGenerator.none(), 1)) {
      pair.write(1, 0, 700_000, 700_000);
      pair.write(1, 1, 700_000, 700_000);
      Fetch first = pair.fetch(true, "shuffle_1_0_0", "shuffle_1_1_0").await();
      first.release();
      first = pair.fetch(true, "shuffle_1_0_0").await();
      Fetch served = pair.fetch("shuffle_1_0_1");
      Fetch expired = pair.fetch("shuffle_1_1_1");
      pair.continuations.shutdown();
      first.release();
      served.assertAllRight(pair::content);
      pair.receivePool.close();
      expired.assertAllRight(pair::content);
      assertEquals(0, pair.receivePool.pool().gauges().allocatedBytes());
    }
  }

  @Test
  void aListenerThatThrowsCostsNoOtherBlock() throws Exception {
    try (TwoExecutors pair = pairWithOutputs(FaultGenerator.none())) {
      Fetch fetch = new Fetch(new String[] {"shuffle_1_1_0", "shuffle_1_2_0"}, false);
      BlockFetchingListener throwing =
          new BlockFetchingListener() {
            @Override
            public void onBlockFetchSuccess(String blockId, ManagedBuffer data) {
              if (blockId.equals("shuffle_1_0_0")) {
                throw new IllegalStateException("of the test");
              }
              fetch.onBlockFetchSuccess(blockId, data);
            }

            @Override
            public void onBlockFetchFailure(String blockId, Throwable failure) {
              fetch.onBlockFetchFailure(blockId, failure);
            }
          };
      pair.client.fetchBlocks("localhost", 1, TwoExecutors.OWNER, names(1, 3, 0), throwing, null);
      pair.assertRight(fetch, "shm", 3);
      pair.assertClean();
    }
  }

  @Test
  void anExecutorIdThatIsGivenToAnotherProcessIsConnectedAnew() throws Exception {
    try (TwoExecutors pair = pairWithOutputs(FaultGenerator.none())) {
      // What the driver says at first is not what the owner's slabs prove.
      pair.directory.driver().removeExecutor(TwoExecutors.OWNER);
      pair.register(TwoExecutors.identity(TwoExecutors.OWNER, 99));
      pair.publish(pair.store.get(1, 0));
      pair.fetch("shuffle_1_0_0").assertAllRight(pair::content);
      assertEquals(1, pair.accounting.snapshot().get("blocks.tcp"));

      pair.directory.driver().removeExecutor(TwoExecutors.OWNER);
      pair.register(TwoExecutors.identity(TwoExecutors.OWNER, 1));
      pair.publish(pair.store.get(1, 0));
      pair.services.directory().forgetExecutor(TwoExecutors.OWNER);
      pair.fetch("shuffle_1_0_0").assertAllRight(pair::content);
      assertEquals(1, pair.accounting.snapshot().get("blocks.shm"));
      pair.assertClean();
    }
  }

  @Test
  void afterCloseEverythingGoesToTcpAndNothingConnects() throws Exception {
    try (TwoExecutors pair = pairWithOutputs(FaultGenerator.none())) {
      pair.client.close();
      pair.assertRight(pair.fetch(names(1, 3, 0)), "READ_FAILED", 3, "tcp", 3);
      assertEquals(0, pair.transport.counters().openConnections.sum());
      pair.assertClean();
    }
  }

  @Test
  void anInterruptedTaskGetsItsBlocksOverTcpAndStaysInterrupted() throws Exception {
    try (TwoExecutors pair = pairWithOutputs(FaultGenerator.none())) {
      Thread.currentThread().interrupt();
      Fetch fetch = pair.fetch(names(1, 3, 0));
      assertTrue(Thread.interrupted());
      pair.assertRight(fetch, "INTERRUPTED", 3, "tcp", 3);
    }
  }

  @ParameterizedTest
  @EnumSource(ChecksumAlgorithm.class)
  void verifiesChecksums(ChecksumAlgorithm algorithm) throws Exception {
    ReadHook hook = new ReadHook();
    boolean isChecked = algorithm != ChecksumAlgorithm.NONE;
    try (TwoExecutors pair = new TwoExecutors(hook, "verifyChecksums", "true")) {
      pair.write(algorithm, 1, 0, 100, 0, 70_000, 3, 0, 500_000);
      String[] names = {"shuffle_1_0_0", "shuffle_1_0_0_6", "shuffle_1_0_1_4", "shuffle_1_0_5"};
      pair.assertRight(pair.fetch(names), "shm", 4);
      hook.set((number, length) -> length == 3 ? Fault.CORRUPT : Fault.NONE);
      Fetch corrupted = pair.fetch("shuffle_1_0_0", "shuffle_1_0_3");
      if (isChecked) {
        pair.assertRight(corrupted, "shm", 5, "CHECKSUM_MISMATCH", 1, "tcp", 1);
      } else {
        corrupted.await();
        pair.assertCounts("shm", 6);
      }
      pair.assertClean();
    }
  }

  @Test
  void whatIsCorruptOverTcpTooIsNotHandedOn() throws Exception {
    ReadHook hook = new ReadHook();
    try (TwoExecutors pair = new TwoExecutors(hook, "verifyChecksums", "true")) {
      pair.write(ChecksumAlgorithm.CRC32C, 1, 0, 100, 70_000, 500);
      pair.tcp.isCorrupt = true;
      hook.set((number, length) -> length == 70_000 ? Fault.CORRUPT : Fault.NONE);
      pair.fetch("shuffle_1_0_1").assertAllFailed();
      pair.assertRight(pair.fetch("shuffle_1_0_0"), "shm", 1, "CHECKSUM_MISMATCH", 1, "tcp", 1);
      pair.assertClean();
    }
  }

  /** Else the task would wait for ever, where without the plugin its executor would end. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void anErrorOfTheVirtualMachineFailsTheBlocks(boolean isFaulty) throws Exception {
    try (TwoExecutors pair = new TwoExecutors(isFaulty, FaultGenerator.none(), 8)) {
      pair.write(1, 0, 1000, 2000, 3000);
      String[] names = names(1, 1, 0, 1, 2);
      Fetch fetch = new Fetch(names, false);
      NoHeap listener = new NoHeap(fetch);
      pair.client.fetchBlocks("localhost", 7337, TwoExecutors.OWNER, names, listener, null);
      fetch.assertAllFailed();
      // What others read is none the worse, on the same thread and over the same connection.
      pair.assertRight(pair.fetch(names), "shm", 4);
      pair.assertClean();
    }
  }

  /** Runs out of heap whenever it is given a block. */
  private record NoHeap(Fetch told) implements BlockFetchingListener {
    @Override
    public void onBlockFetchSuccess(String blockId, ManagedBuffer data) {
      throw new OutOfMemoryError("of the test");
    }

    @Override
    public void onBlockFetchFailure(String blockId, Throwable failure) {
      told.onBlockFetchFailure(blockId, failure);
    }
  }

  @Test
  void whenReadsCannotBePreparedForWantOfHeapTheBlocksFail() throws Exception {
    try (TwoExecutors pair =
        new TwoExecutors(FetchRequestTest::withoutHeapForReads, 8 * TwoExecutors.SLAB_LENGTH, 8)) {
      pair.write(1, 0, 1000, 2000, 3000);
      pair.fetch(names(1, 1, 0, 1, 2)).assertAllFailed();
      pair.assertClean();
    }
  }

  private static Transport withoutHeapForReads(Transport plain) {
    return (Transport)
        Proxy.newProxyInstance(
            Transport.class.getClassLoader(),
            new Class<?>[] {Transport.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("maxReadLength")) {
                throw new OutOfMemoryError("of the test");
              }
              return method.invoke(plain, arguments);
            });
  }

  @Test
  void readsThatCannotBePostedForWantOfHeapGoToTcp() throws Exception {
    ReadHook hook = new ReadHook();
    try (TwoExecutors pair = new TwoExecutors(hook)) {
      pair.write(1, 0, 1000, 2000, 3000);
      hook.set(
          (number, length) -> {
            throw new OutOfMemoryError("of the test");
          });
      pair.assertRight(pair.fetch(names(1, 1, 0, 1, 2)), "QP_SETUP_FAILED", 3, "tcp", 3);
      pair.assertClean();
    }
  }

  @Test
  void whenTcpCannotEvenStartTheBlocksFail() throws Exception {
    try (TwoExecutors pair = pairWithOutputs(FaultGenerator.none())) {
      pair.tcp.failure = new IllegalStateException("of the test");
      pair.fetch("shuffle_1_7_0", "shuffle_1_8_0").assertAllFailed();
      pair.tcp.failure = null;
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5, 6})
  void whateverGoesWrongEachBlockComesOnceAndRight(int round) throws Exception {
    long seed = Long.getLong("test.seed", System.nanoTime()) + round;
    System.out.println("whateverGoesWrongEachBlockComesOnceAndRight seed=" + seed);
    Random random = new Random(seed);
    FaultGenerator faults =
        RandomFault.ofReads(0.01 * round, seed, Fault.ERROR, Fault.LATE, Fault.MISSING)
            .and(RandomFault.ofConnects(0.2, seed, Fault.ERROR, Fault.LATE, Fault.MISSING));
    try (TwoExecutors pair =
        new TwoExecutors(
            true,
            faults,
            3,
            "read.timeout",
            "50ms",
            "connect.timeout",
            "50ms",
            "peer.backoff",
            "10ms",
            "peer.maxBackoff",
            "20ms",
            "readChunkSize",
            "16k",
            "maxReadsInFlightPerPeer",
            "32",
            "maxBytesInFlightPerPeer",
            "1m")) {
      int maps = 30;
      for (int map = 0; map < maps; map++) {
        pair.write(1, map, random.nextInt(3000), random.nextInt(200_000), 10, 0);
      }
      List<Thread> tasks = new ArrayList<>();
      List<Fetch> fetches = new CopyOnWriteArrayList<>();
      for (int t = 0; t < 3; t++) {
        Random own = new Random(seed + t);
        Thread task =
            new Thread(
                () -> {
                  for (int i = 0; i < 10; i++) {
                    Fetch fetch = pair.fetch(own.nextBoolean(), someNames(own, maps));
                    fetches.add(fetch);
                    if (own.nextInt(4) == 0) {
                      pair.store.remove(1, own.nextInt(maps));
                    }
                    fetch.await();
                    fetch.release();
                  }
                });
        tasks.add(task);
        task.start();
      }
      for (Thread task : tasks) {
        task.join();
      }
      long bytes = 0;
      for (Fetch fetch : fetches) {
        fetch.assertAllRight(pair::content);
        bytes += fetch.bytes();
      }
      assertEquals(30, fetches.size());
      assertEquals(bytes, pair.bytesRead());
      pair.assertClean();
    }
  }

  private static String[] someNames(Random random, int maps) {
    List<String> names = new ArrayList<>();
    for (int map = 0; map < maps; map++) {
      if (random.nextInt(3) > 0) {
        names.add("shuffle_1_" + map + "_" + random.nextInt(3));
      }
      if (random.nextInt(5) == 0) {
        names.add("shuffle_1_" + map + "_" + random.nextInt(2) + "_4");
      }
    }
    return names.isEmpty() ? new String[] {"shuffle_1_0_0"} : names.toArray(new String[0]);
  }
}
