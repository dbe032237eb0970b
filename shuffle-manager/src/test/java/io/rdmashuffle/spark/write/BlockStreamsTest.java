package io.rdmashuffle.spark.write;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Arrays;
import java.util.Random;
import org.apache.spark.SparkConf;
import org.apache.spark.io.CompressionCodec$;
import org.apache.spark.serializer.KryoSerializer;
import org.apache.spark.serializer.SerializerManager;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Small blocks are compressed by streams of their size, and Spark's codec reads them all. */
class BlockStreamsTest {
  @ParameterizedTest
  @ValueSource(strings = {"lz4", "zstd", "snappy", "lzf"})
  void sparkReadsBlocksOfEverySize(String codec) throws IOException {
    SparkConf conf = new SparkConf(false).set("spark.io.compression.codec", codec);
    BlockStreams streams = streams(conf);
    Random random = Records.random("sizes");
    for (int length = 0; length <= 70_000; length = length * 5 / 4 + 1) {
      byte[] bytes = new byte[length];
      random.nextBytes(bytes);
      ByteArrayOutputStream block = new ByteArrayOutputStream();
      // Written with room to spare, and with a length that is too small: right in any case.
      for (long claimed : new long[] {length, length / 3}) {
        try (OutputStream out = streams.compressing(block, claimed)) {
          out.write(bytes);
        }
      }
      byte[] twice =
          CompressionCodec$.MODULE$
              .createCodec(conf)
              .compressedInputStream(new ByteArrayInputStream(block.toByteArray()))
              .readAllBytes();
      assertEquals(2 * length, twice.length);
      for (int from : new int[] {0, length}) {
        byte[] half = Arrays.copyOfRange(twice, from, from + length);
        assertArrayEquals(bytes, half);
      }
    }
  }

  @Test
  void aBlockMayBeSeveralStreamsOnlyWhereTheCodecIsKnownToReadThem() {
    assertTrue(streams(new SparkConf(false)).isConcatenable());
    SparkConf unknown =
        new SparkConf(false).set("spark.io.compression.codec", UnknownCodec.class.getName());
    assertFalse(streams(unknown).isConcatenable());
    assertTrue(streams(unknown.set("spark.shuffle.compress", "false")).isConcatenable());
  }

  private static BlockStreams streams(SparkConf conf) {
    return new BlockStreams(conf, new SerializerManager(new KryoSerializer(conf), conf));
  }
}
