package io.rdmashuffle.spark.resolve;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.store.BlockStore;
import io.rdmashuffle.store.MapOutput;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.apache.spark.network.client.StreamCallbackWithID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Map outputs of a decommissioned executor: their data is in a file when the index comes. */
final class ReceivedOutputTest {
  private static final long BUDGET = 4L << 20;

  private final BlockStore store = TestStores.withBudget(BUDGET);
  private final FakeMemoryOutputs memory = new FakeMemoryOutputs(store);

  @TempDir private Path directory;
  private Path indexFile;
  private Path dataFile;

  @BeforeEach
  void name() {
    indexFile = directory.resolve("index");
    dataFile = directory.resolve("data");
  }

  @AfterEach
  void close() {
    store.removeShuffle(1);
    assertEquals(0, store.pool().gauges().allocatedBytes());
    store.close();
  }

  /** Spark's own callback: writes the index file, and then tells the driver. */
  private final class ToFile implements StreamCallbackWithID {
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    @Override
    public String getID() {
      return "index";
    }

    @Override
    public void onData(String streamId, ByteBuffer data) {
      while (data.hasRemaining()) {
        bytes.write(data.get());
      }
    }

    @Override
    public void onComplete(String streamId) throws IOException {
      Files.write(indexFile, bytes.toByteArray());
      memory.told.add("driver");
    }

    @Override
    public void onFailure(String streamId, Throwable cause) {
      memory.told.add("failure");
    }
  }

  private ReceivedOutput receiver() {
    return new ReceivedOutput(new ToFile(), memory, 1, 7, indexFile.toFile(), dataFile.toFile());
  }

  private static ByteBuffer index(long... lengths) {
    ByteBuffer index = ByteBuffer.allocate((lengths.length + 1) * Long.BYTES);
    long offset = 0;
    index.putLong(0);
    for (long length : lengths) {
      offset += length;
      index.putLong(offset);
    }
    return index.flip();
  }

  private byte[] writeData(int length) throws IOException {
    byte[] data = new byte[length];
    new Random(3).nextBytes(data);
    Files.write(dataFile, data);
    return data;
  }

  private byte[] partition(int partition) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    MapOutput output = store.get(1, 7);
    for (ByteBuffer piece : output.slices(partition, partition + 1)) {
      while (piece.hasRemaining()) {
        all.write(piece.get());
      }
    }
    return all.toByteArray();
  }

  @Test
  void movesIntoMemoryAndIsPublishedBeforeTheDriverCountsOnIt() throws Exception {
    byte[] data = writeData(1_700_000);
    ReceivedOutput receiver = receiver();
    ByteBuffer index = index(0, 1_200_000, 0, 500_000, 0);
    // In pieces, as the network has them.
    receiver.onData("s", index.slice(0, 13));
    receiver.onData("s", index.slice(13, index.remaining() - 13));
    receiver.onComplete("s");
    assertEquals(List.of("memory 1 7", "driver"), memory.told);
    byte[] second = new byte[1_200_000];
    System.arraycopy(data, 0, second, 0, second.length);
    assertArrayEquals(second, partition(1));
    assertEquals(500_000, partition(3).length);
    assertEquals(5, store.get(1, 7).numPartitions());
    assertFalse(Files.exists(dataFile), "the data file is left");
    assertFalse(Files.exists(indexFile), "the index file is left");
  }

  @Test
  void anOutputWithoutDataIsInMemoryToo() throws Exception {
    ReceivedOutput receiver = receiver();
    receiver.onData("s", index(0, 0));
    receiver.onComplete("s");
    assertEquals(List.of("memory 1 7", "driver"), memory.told);
    assertEquals(0, store.get(1, 7).length());
  }

  @Test
  void filesStayWhereTheDurabilityWantsThem() throws Exception {
    writeData(100);
    memory.keepsFiles = true;
    ReceivedOutput receiver = receiver();
    receiver.onData("s", index(100));
    receiver.onComplete("s");
    assertTrue(store.contains(1, 7));
    assertTrue(Files.exists(dataFile));
    assertTrue(Files.exists(indexFile));
  }

  @Test
  void whatExceedsTheBudgetStaysInFiles() throws Exception {
    writeData((int) BUDGET + 1);
    ReceivedOutput receiver = receiver();
    receiver.onData("s", index(BUDGET, 1));
    receiver.onComplete("s");
    assertStaysInFiles(BUDGET + 1);
  }

  @Test
  void dataThatEndsTooSoonIsLeftAsItIs() throws Exception {
    writeData(10);
    ReceivedOutput receiver = receiver();
    receiver.onData("s", index(5, 6));
    receiver.onComplete("s");
    assertStaysInFiles(11); // what the index says
  }

  private void assertStaysInFiles(long bytes) {
    assertEquals(List.of("files 1 7 " + bytes, "driver"), memory.told);
    assertFalse(store.contains(1, 7));
    assertTrue(Files.exists(dataFile));
    assertTrue(Files.exists(indexFile));
  }

  @Test
  void aTransferThatFailsIsSparksAffair() throws Exception {
    ReceivedOutput receiver = receiver();
    receiver.onData("s", index(1).limit(5));
    receiver.onFailure("s", new IOException("of the test"));
    assertEquals(List.of("failure"), memory.told);
  }
}
