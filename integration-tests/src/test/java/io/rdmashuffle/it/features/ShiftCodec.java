package io.rdmashuffle.it.features;

import java.io.FilterInputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import org.apache.spark.SparkConf;
import org.apache.spark.io.CompressionCodec;

/** A codec that a user brings: it adds one to each byte, so that bytes that miss it are wrong. */
public final class ShiftCodec implements CompressionCodec {
  /** Called by Spark. */
  public ShiftCodec(SparkConf conf) {}

  @Override
  public OutputStream compressedOutputStream(OutputStream out) {
    return new FilterOutputStream(out) {
      @Override
      public void write(int value) throws IOException {
        out.write(value + 1);
      }
    };
  }

  @Override
  public InputStream compressedInputStream(InputStream in) {
    return new FilterInputStream(in) {
      @Override
      public int read() throws IOException {
        int value = in.read();
        return value < 0 ? value : (value - 1) & 0xFF;
      }

      @Override
      public int read(byte[] bytes, int offset, int length) throws IOException {
        int count = in.read(bytes, offset, length);
        for (int i = offset; i < offset + count; i++) {
          bytes[i]--;
        }
        return count;
      }
    };
  }
}
