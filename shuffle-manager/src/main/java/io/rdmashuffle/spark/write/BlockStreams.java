package io.rdmashuffle.spark.write;

import java.io.InputStream;
import java.io.OutputStream;
import org.apache.spark.SparkConf;
import org.apache.spark.io.CompressionCodec;
import org.apache.spark.io.CompressionCodec$;
import org.apache.spark.io.LZ4CompressionCodec;
import org.apache.spark.serializer.SerializerManager;

/**
 * Compression and encryption of shuffle blocks as Spark's settings ask for them. What is written
 * here is read by Spark's own streams.
 *
 * <p>A codec's stream allocates, and zeroes, buffers of its block size when it is created: 64 KiB
 * with the defaults, far more than most partitions of a shuffle with thousands of them hold. So
 * there are codecs of smaller block sizes for partitions that are known to be small; readers learn
 * the block size from the stream. Safe for use by several threads.
 */
final class BlockStreams {
  /** Partitions up to this many bytes get a codec of their size. */
  static final int SMALL = 16 << 10;

  private static final int SMALLEST = 1 << 10;
  private static final int NO_LZ4 = 0;
  private static final String LZ4_BLOCK_SIZE = "spark.io.compression.lz4.blockSize";
  private static final String[] BLOCK_SIZES = {
    LZ4_BLOCK_SIZE, "spark.io.compression.snappy.blockSize", "spark.io.compression.zstd.bufferSize"
  };
  private static final String DEFAULT_BLOCK_SIZE = "32k";

  private final SerializerManager serializerManager;
  private final CompressionCodec codec;
  private final CompressionCodec[] smallCodecs;
  private final boolean isConcatenable;
  private final int lz4BlockLength;

  BlockStreams(SparkConf conf, SerializerManager serializerManager) {
    this.serializerManager = serializerManager;
    if (conf.getBoolean("spark.shuffle.compress", true)) {
      codec = CompressionCodec$.MODULE$.createCodec(conf);
      isConcatenable = CompressionCodec$.MODULE$.supportsConcatenationOfSerializedStreams(codec);
      smallCodecs = smallCodecs(conf);
    } else {
      codec = null;
      isConcatenable = true;
      smallCodecs = new CompressionCodec[0];
    }
    lz4BlockLength = lz4BlockLength(conf, codec);
  }

  /** Sizes that the codec refuses are left to it, so that it says so. */
  private static int lz4BlockLength(SparkConf conf, CompressionCodec codec) {
    if (!(codec instanceof LZ4CompressionCodec)) {
      return NO_LZ4;
    }
    long length = conf.getSizeAsBytes(LZ4_BLOCK_SIZE, DEFAULT_BLOCK_SIZE);
    boolean isAccepted =
        length >= Lz4BlockStream.SMALLEST_BLOCK && length <= Lz4BlockStream.LARGEST_BLOCK;
    return isAccepted ? (int) length : NO_LZ4;
  }

  private static CompressionCodec[] smallCodecs(SparkConf conf) {
    CompressionCodec[] codecs = new CompressionCodec[sizeClass(SMALL) + 1];
    for (int i = 0; i < codecs.length; i++) {
      SparkConf small = conf.clone();
      for (String key : BLOCK_SIZES) {
        long size = Math.min(SMALLEST << i, conf.getSizeAsBytes(key, DEFAULT_BLOCK_SIZE));
        small.set(key, size + "b");
      }
      codecs[i] = CompressionCodec$.MODULE$.createCodec(small);
    }
    return codecs;
  }

  /** 0 for up to 1 KiB, 1 for up to 2 KiB, and so on. */
  private static int sizeClass(long bytes) {
    return bytes <= SMALLEST ? 0 : Long.SIZE - Long.numberOfLeadingZeros((bytes - 1) / SMALLEST);
  }

  /** Whether a block may be several compressed streams, one behind the other. */
  boolean isConcatenable() {
    return isConcatenable;
  }

  /** Encrypts if that is asked for, else the stream itself. */
  OutputStream encrypting(OutputStream out) {
    return serializerManager.wrapForEncryption(out);
  }

  /**
   * Compresses if that is asked for, else the stream itself. Closing it closes {@code out}.
   *
   * @param length bytes that will be written, or any number above {@link #SMALL} for more
   */
  OutputStream compressing(OutputStream out, long length) {
    if (codec == null) {
      return out;
    }
    CompressionCodec fitting = length <= SMALL ? smallCodecs[sizeClass(length)] : codec;
    return fitting.compressedOutputStream(out);
  }

  /**
   * A compressor for one partition after the other, which is cheaper than {@link #compressing}.
   *
   * @return null unless the codec is LZ4
   */
  Lz4BlockStream newLz4BlockStream() {
    return lz4BlockLength == NO_LZ4 ? null : new Lz4BlockStream(lz4BlockLength);
  }

  InputStream decrypting(InputStream in) {
    return serializerManager.wrapForEncryption(in);
  }

  InputStream decompressing(InputStream in) {
    return codec == null ? in : codec.compressedInputStream(in);
  }
}
