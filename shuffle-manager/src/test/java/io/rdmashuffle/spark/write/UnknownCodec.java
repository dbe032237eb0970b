package io.rdmashuffle.spark.write;

import java.io.InputStream;
import java.io.OutputStream;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.InflaterInputStream;
import org.apache.spark.SparkConf;
import org.apache.spark.io.CompressionCodec;

/** A codec of a user's, of which nobody knows whether its streams may follow each other. */
public final class UnknownCodec implements CompressionCodec {
  /** Called by Spark. */
  public UnknownCodec(SparkConf conf) {}

  @Override
  public OutputStream compressedOutputStream(OutputStream out) {
    return new DeflaterOutputStream(out);
  }

  @Override
  public InputStream compressedInputStream(InputStream in) {
    return new InflaterInputStream(in);
  }
}
