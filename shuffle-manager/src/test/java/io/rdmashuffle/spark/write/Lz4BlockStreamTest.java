package io.rdmashuffle.spark.write;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.Random;
import org.apache.spark.SparkConf;
import org.apache.spark.io.LZ4CompressionCodec;
import org.apache.spark.serializer.KryoSerializer;
import org.apache.spark.serializer.SerializerManager;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class Lz4BlockStreamTest {
  private static final int BLOCK = 1 << 10;
  private static final int HEADER = 21;

  private final Random random = Records.random("lz4 blocks");
  private final Closing target = new Closing();

  @ParameterizedTest
  @ValueSource(ints = {64, 1 << 10, 1000, 32 << 10, 1 << 20})
  void sparksCodecReadsPartitionsOfEverySize(int blockLength) throws IOException {
    Lz4BlockStream stream = new Lz4BlockStream(blockLength);
    for (int length :
        new int[] {0, 1, blockLength - 1, blockLength, blockLength + 1, 5 * blockLength + 7}) {
      for (byte[] bytes : new byte[][] {noise(length), new byte[length]}) {
        target.reset();
        writeInPieces(stream.to(target), bytes);
        assertArrayEquals(bytes, decompressed());
      }
    }
  }

  @Test
  void streamsMayFollowEachOther() throws IOException {
    Lz4BlockStream stream = new Lz4BlockStream(BLOCK);
    byte[] first = noise(3 * BLOCK + 5);
    byte[] second = new byte[100];
    writeInPieces(stream.to(target), first);
    writeInPieces(stream.to(target), second);
    byte[] both = Arrays.copyOf(first, first.length + second.length);
    assertArrayEquals(both, decompressed());
  }

  @Test
  void whatDoesNotCompressGrowsByItsHeadersOnly() throws IOException {
    try (Lz4BlockStream stream = new Lz4BlockStream(BLOCK).to(target)) {
      stream.write(noise(40 * BLOCK));
    }
    assertEquals(40 * (BLOCK + HEADER) + HEADER, target.size());
  }

  @Test
  void compressionIsTriedAgainSoonAfterDataThatDoesNotCompress() throws IOException {
    try (Lz4BlockStream stream = new Lz4BlockStream(BLOCK).to(target)) {
      stream.write(noise(100 * BLOCK));
      int before = target.size();
      stream.write(new byte[100 * BLOCK]);
      int untried = (target.size() - before) / BLOCK;
      assertTrue(untried <= Lz4BlockStream.MOST_UNTRIED + 5, untried + " blocks were not tried");
    }
    assertEquals(200 * BLOCK, decompressed().length);
  }

  @Test
  void compressionIsSeldomTriedOnDataThatItHardlyShortens() throws IOException {
    byte[] rows = noise(100 * BLOCK);
    for (int row = 0; row < rows.length; row += BLOCK) {
      Arrays.fill(rows, row, row + 40, (byte) 7);
    }
    try (Lz4BlockStream stream = new Lz4BlockStream(BLOCK).to(target)) {
      stream.write(rows);
    }
    int saved = 100 * (BLOCK + HEADER) + HEADER - target.size();
    int savedByOne = BLOCK + HEADER - compressedLength(rows);
    assertTrue(savedByOne > 0 && savedByOne < BLOCK / Lz4BlockStream.LEAST_GAIN);
    assertTrue(saved < 12 * savedByOne, saved + " bytes saved, by one block " + savedByOne);
    assertArrayEquals(rows, decompressed());
  }

  /** Of the first block, with its header. */
  private static int compressedLength(byte[] bytes) throws IOException {
    ByteArrayOutputStream one = new ByteArrayOutputStream();
    try (Lz4BlockStream stream = new Lz4BlockStream(BLOCK).to(one)) {
      stream.write(bytes, 0, BLOCK);
    }
    return one.size() - HEADER;
  }

  @Test
  void aShortBlockIsCompressedWhateverCameBefore() throws IOException {
    Lz4BlockStream stream = new Lz4BlockStream(BLOCK);
    writeInPieces(stream.to(target), noise(BLOCK));
    target.reset();
    writeInPieces(stream.to(target), new byte[BLOCK - 1]);
    assertTrue(target.size() < 100, "bytes=" + target.size());
  }

  @Test
  void closingEndsThePartitionOnceAndClosesItsTarget() throws IOException {
    Lz4BlockStream stream = new Lz4BlockStream(BLOCK).to(target);
    stream.close();
    stream.close();
    assertEquals(HEADER, target.size());
    assertEquals(1, target.closed);
    assertThrows(IOException.class, () -> stream.write(1));
    assertThrows(IOException.class, () -> stream.write(new byte[1]));
  }

  @Test
  void onlySparksLz4CodecIsReplaced() {
    assertNotNull(streams("lz4", "32k").newLz4BlockStream());
    assertNull(streams("zstd", "32k").newLz4BlockStream());
    assertNull(streams("lz4", "32b").newLz4BlockStream());
  }

  private static BlockStreams streams(String codec, String blockSize) {
    SparkConf conf =
        new SparkConf(false)
            .set("spark.io.compression.codec", codec)
            .set("spark.io.compression.lz4.blockSize", blockSize);
    return new BlockStreams(conf, new SerializerManager(new KryoSerializer(conf), conf));
  }

  /** Bytes one by one, then pieces of all lengths; closes the stream. */
  private void writeInPieces(Lz4BlockStream stream, byte[] bytes) throws IOException {
    try (stream) {
      int written = 0;
      while (written < Math.min(3, bytes.length)) {
        stream.write(bytes[written++]);
      }
      while (written < bytes.length) {
        int piece = Math.min(bytes.length - written, 1 + random.nextInt(1 << random.nextInt(18)));
        stream.write(bytes, written, piece);
        written += piece;
      }
    }
  }

  private byte[] noise(int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }

  /** As a reader with default settings does it. */
  private byte[] decompressed() throws IOException {
    return new LZ4CompressionCodec(new SparkConf(false))
        .compressedInputStream(new ByteArrayInputStream(target.toByteArray()))
        .readAllBytes();
  }

  private static final class Closing extends ByteArrayOutputStream {
    private int closed;

    @Override
    public void close() {
      closed++;
    }
  }
}
