package io.rdmashuffle.spark.resolve;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.rdmashuffle.spark.read.Buffers;
import io.rdmashuffle.store.BlockStore;
import io.rdmashuffle.store.MapOutput;
import io.rdmashuffle.store.MapOutputBuilder;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.checksum.Cause;
import org.apache.spark.network.shuffle.checksum.ShuffleChecksumHelper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class SlabManagedBufferTest {
  private final BlockStore store = TestStores.withBudget(16L << 20);
  private final byte[] bytes = new byte[2_500_000];
  private MapOutput output;

  @BeforeEach
  void write() throws Exception {
    new Random(1).nextBytes(bytes);
    MapOutputBuilder builder = store.begin(1, 2, 3);
    builder.startPartition(0);
    builder.write(bytes, 0, 100);
    builder.startPartition(2);
    builder.write(bytes, 100, bytes.length - 100);
    output = builder.commit();
  }

  @AfterEach
  void nothingIsPinned() {
    store.remove(1, 2);
    assertEquals(0, store.pool().gauges().allocatedBytes());
    store.close();
  }

  private SlabManagedBuffer buffer(int start, int end) {
    assertTrue(output.pin());
    return SlabManagedBuffer.of(output, start, end);
  }

  private boolean isPinned() {
    store.remove(1, 2);
    return store.pool().gauges().allocatedBytes() > 0;
  }

  @Test
  void theTcpServiceReleasesOnceWhenTheBytesAreSent() throws Exception {
    ManagedBuffer buffer = buffer(0, 3);
    ByteBuf body = (ByteBuf) buffer.convertToNetty();
    assertEquals(bytes.length, body.readableBytes());
    byte[] sent = new byte[bytes.length];
    body.readBytes(sent);
    assertArrayEquals(bytes, sent);
    body.release();
    assertTrue(isPinned());
    buffer.release();
    assertEquals(false, isPinned());
  }

  @Test
  void aLocalReaderRetainsAndReleasesOnce() throws Exception {
    ManagedBuffer buffer = buffer(2, 3);
    buffer.retain();
    try (var in = buffer.createInputStream()) {
      assertArrayEquals(Arrays.copyOfRange(bytes, 100, bytes.length), in.readAllBytes());
    }
    assertTrue(isPinned());
    buffer.release();
    assertEquals(false, isPinned());
    buffer.release(); // one that counts in full does no harm
    assertEquals(false, isPinned());
  }

  /** Else each corrupt block would keep its map output's memory until the executor ends. */
  @Test
  void theDiagnosisOfACorruptBlockLeavesNoPin(@TempDir Path directory) throws Exception {
    Path checksums = Files.write(directory.resolve("checksums"), new byte[3 * Long.BYTES]);
    Cause cause =
        ShuffleChecksumHelper.diagnoseCorruption(
            "CRC32C", checksums.toFile(), 2, buffer(2, 3), 0x1234);
    assertEquals(Cause.DISK_ISSUE, cause);
    assertEquals(false, isPinned());
  }

  @Test
  void severalHoldersAreWaitedFor() {
    ManagedBuffer buffer = buffer(0, 1);
    buffer.retain();
    buffer.retain();
    buffer.release();
    assertTrue(isPinned());
    buffer.release();
    assertEquals(false, isPinned());
  }

  @Test
  void partitionsThatAreNotThereLeaveNoPin() {
    assertThrows(IndexOutOfBoundsException.class, () -> buffer(0, 4));
    assertThrows(IndexOutOfBoundsException.class, () -> buffer(2, 1));
    assertEquals(false, isPinned());
  }

  @Test
  void emptyPartitionsHaveNoBytes() throws Exception {
    ManagedBuffer buffer = buffer(1, 2);
    assertEquals(0, buffer.size());
    assertEquals(0, buffer.nioByteBuffer().remaining());
    assertEquals(0, ((ByteBuf) buffer.convertToNetty()).readableBytes());
    assertEquals(-1, buffer.createInputStream().read());
    buffer.release();
  }

  @Test
  void migrationTakesACopyAndReleasesNothing() throws Exception {
    assertTrue(output.pin());
    ManagedBuffer buffer = SlabManagedBuffer.forMigration(output);
    ByteBuffer copy = buffer.nioByteBuffer();
    assertEquals(false, isPinned());
    assertEquals(ByteBuffer.wrap(bytes), copy);
  }

  @Test
  void migrationAsAStreamReleasesOnce() throws Exception {
    assertTrue(output.pin());
    ManagedBuffer buffer = SlabManagedBuffer.forMigration(output);
    ((ByteBuf) buffer.convertToNetty()).release();
    assertTrue(isPinned());
    buffer.release();
    assertEquals(false, isPinned());
  }

  @Test
  void aRegionWritesAllPiecesToAChannelThatTakesLittle() throws Exception {
    ManagedBuffer buffer = buffer(0, 3);
    ByteBuffer[] pieces = output.slices(0, 3).toArray(new ByteBuffer[0]);
    assertTrue(pieces.length > 2);
    PiecesRegion region = new PiecesRegion(Buffers.duplicates(pieces), bytes.length);
    Trickle channel = new Trickle();
    while (region.transferred() < region.count()) {
      region.transferTo(channel, region.transferred());
    }
    assertArrayEquals(bytes, channel.taken.toByteArray());
    assertEquals(0, region.transferTo(channel, region.count()));
    region.release();
    buffer.release();
  }

  /** Takes a different number of bytes each time, none now and then. */
  private static final class Trickle implements WritableByteChannel {
    final ByteArrayOutputStream taken = new ByteArrayOutputStream();
    private int calls;

    @Override
    public int write(ByteBuffer source) throws IOException {
      int count = Math.min(source.remaining(), calls++ % 5 * 9_973);
      byte[] some = new byte[count];
      source.get(some);
      taken.write(some);
      return count;
    }

    @Override
    public boolean isOpen() {
      return true;
    }

    @Override
    public void close() {}
  }
}
