package io.rdmashuffle.spark.write;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import net.jpountz.lz4.LZ4Compressor;
import net.jpountz.lz4.LZ4Factory;
import net.jpountz.xxhash.XXHash32;
import net.jpountz.xxhash.XXHashFactory;

/**
 * Compresses one partition after the other into the streams that Spark's LZ4 codec reads. The
 * codec's own stream is made anew for each partition, with buffers and a checksum that lives
 * outside the heap; this one is used again and again, and compresses full blocks where they lie.
 *
 * <p>Data that LZ4 cannot shorten is stored as it is, as the codec does. But since it rarely comes
 * alone, some of the full blocks behind such a block are stored without trying: one at first, up to
 * {@value #MOST_UNTRIED}. The same holds for a block that LZ4 shortens by less than a {@value
 * #LEAST_GAIN}th, such as one of random values between the few constant bytes of each row: LZ4
 * takes longer for it than a link of 1 Gbit/s takes for the bytes it saves.
 *
 * <p>A stream is blocks and, at its end, an empty one. A block is the magic, a byte for the method
 * and the block size, three little-endian numbers (stored length, original length, checksum of the
 * original) and the bytes. Used by one thread.
 */
final class Lz4BlockStream extends OutputStream {
  /** What the codec accepts as block size. */
  static final int SMALLEST_BLOCK = 64;

  static final int LARGEST_BLOCK = 32 << 20;

  /** Most full blocks stored without trying, before the next try. */
  static final int MOST_UNTRIED = 15;

  /** The share of a block that LZ4 must save to be tried on the next one. */
  static final int LEAST_GAIN = 32;

  private static final byte[] MAGIC = "LZ4Block".getBytes(StandardCharsets.US_ASCII);
  private static final int METHOD = MAGIC.length;
  private static final int STORED_LENGTH = METHOD + 1;
  private static final int ORIGINAL_LENGTH = STORED_LENGTH + Integer.BYTES;
  private static final int CHECKSUM = ORIGINAL_LENGTH + Integer.BYTES;
  private static final int HEADER_LENGTH = CHECKSUM + Integer.BYTES;

  private static final int RAW = 0x10;
  private static final int LZ4 = 0x20;
  private static final int SMALLEST_SIZE_BITS = 10;
  private static final int SEED = 0x9747b28c;
  private static final int CHECKSUM_MASK = 0xFFFFFFF;

  private final LZ4Compressor compressor = LZ4Factory.fastestInstance().fastCompressor();
  private final XXHash32 hash = XXHashFactory.fastestInstance().hash32();
  private final int blockLength;
  private final int sizeCode;
  private final byte[] block;
  private final byte[] encoded;

  // Null between partitions.
  private OutputStream target;
  private int filled;

  private int untried;
  private int untriedNext = 1;

  /**
   * @param blockLength bytes that are compressed together, from {@link #SMALLEST_BLOCK} to {@link
   *     #LARGEST_BLOCK}
   */
  Lz4BlockStream(int blockLength) {
    this.blockLength = blockLength;
    int sizeBits = Integer.SIZE - Integer.numberOfLeadingZeros(blockLength - 1);
    sizeCode = Math.max(0, sizeBits - SMALLEST_SIZE_BITS);
    block = new byte[blockLength];
    encoded = new byte[HEADER_LENGTH + compressor.maxCompressedLength(blockLength)];
    System.arraycopy(MAGIC, 0, encoded, 0, MAGIC.length);
  }

  /** Begins a partition, whose stream goes to {@code newTarget}; {@link #close()} ends it. */
  Lz4BlockStream to(OutputStream newTarget) {
    target = newTarget;
    filled = 0;
    return this;
  }

  @Override
  public void write(int value) throws IOException {
    requireOpen();
    block[filled++] = (byte) value;
    if (filled == blockLength) {
      flushBlock();
    }
  }

  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    requireOpen();
    Objects.checkFromIndexSize(offset, length, bytes.length);
    int from = offset;
    int left = length;
    while (left > 0) {
      if (filled == 0 && left >= blockLength) {
        writeBlock(bytes, from, blockLength);
        from += blockLength;
        left -= blockLength;
      } else {
        int run = Math.min(left, blockLength - filled);
        System.arraycopy(bytes, from, block, filled, run);
        filled += run;
        from += run;
        left -= run;
        if (filled == blockLength) {
          flushBlock();
        }
      }
    }
  }

  private void flushBlock() throws IOException {
    writeBlock(block, 0, filled);
    filled = 0;
  }

  private void writeBlock(byte[] bytes, int offset, int length) throws IOException {
    int checksum = hash.hash(bytes, offset, length, SEED) & CHECKSUM_MASK;
    boolean isFull = length == blockLength;
    int stored = isFull && untried > 0 ? length : compress(bytes, offset, length);
    if (isFull) {
      onFullBlock(stored < length - length / LEAST_GAIN);
    }
    if (stored < length) {
      writeHeader(LZ4, stored, length, checksum);
      target.write(encoded, 0, HEADER_LENGTH + stored);
    } else {
      writeHeader(RAW, length, length, checksum);
      target.write(encoded, 0, HEADER_LENGTH);
      target.write(bytes, offset, length);
    }
  }

  private int compress(byte[] bytes, int offset, int length) {
    return compressor.compress(bytes, offset, length, encoded, HEADER_LENGTH);
  }

  private void onFullBlock(boolean isWorthIt) {
    if (untried > 0) {
      untried--;
    } else if (isWorthIt) {
      untriedNext = 1;
    } else {
      untried = untriedNext;
      untriedNext = Math.min(2 * untriedNext + 1, MOST_UNTRIED);
    }
  }

  private void writeHeader(int method, int stored, int original, int checksum) {
    encoded[METHOD] = (byte) (method | sizeCode);
    putInt(STORED_LENGTH, stored);
    putInt(ORIGINAL_LENGTH, original);
    putInt(CHECKSUM, checksum);
  }

  private void putInt(int position, int value) {
    encoded[position] = (byte) value;
    encoded[position + 1] = (byte) (value >>> 8);
    encoded[position + 2] = (byte) (value >>> 16);
    encoded[position + 3] = (byte) (value >>> 24);
  }

  private void requireOpen() throws IOException {
    if (target == null) {
      throw new IOException("no partition is being written");
    }
  }

  /** Ends the partition's stream and closes what it went to. Idempotent. */
  @Override
  public void close() throws IOException {
    if (target == null) {
      return;
    }
    try (OutputStream ended = target) {
      if (filled > 0) {
        flushBlock();
      }
      writeHeader(RAW, 0, 0, 0);
      ended.write(encoded, 0, HEADER_LENGTH);
    } finally {
      target = null;
    }
  }
}
