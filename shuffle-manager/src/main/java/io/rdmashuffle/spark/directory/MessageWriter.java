package io.rdmashuffle.spark.directory;

import com.esotericsoftware.kryo.io.Output;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Writes one message: a version byte, a type byte, and what the type says. Used once. */
final class MessageWriter {
  private static final int INITIAL_BYTES = 256;

  private final Output output;

  MessageWriter(byte type) {
    this(type, INITIAL_BYTES);
  }

  MessageWriter(byte type, int expectedBytes) {
    output = new Output(Math.max(INITIAL_BYTES, expectedBytes), -1);
    output.writeByte(Messages.VERSION);
    output.writeByte(type);
  }

  MessageWriter flag(boolean value) {
    output.writeByte(value ? 1 : 0);
    return this;
  }

  /** A number that is never negative, so small ones take one byte. */
  MessageWriter count(int value) {
    output.writeVarInt(value, true);
    return this;
  }

  MessageWriter length(long value) {
    output.writeVarLong(value, true);
    return this;
  }

  /** A number near zero of either sign. */
  MessageWriter delta(long value) {
    output.writeVarLong(value, false);
    return this;
  }

  MessageWriter fixedInt(int value) {
    output.writeInt(value);
    return this;
  }

  MessageWriter fixedLong(long value) {
    output.writeLong(value);
    return this;
  }

  MessageWriter bytes(byte[] value) {
    count(value.length);
    output.writeBytes(value);
    return this;
  }

  MessageWriter text(String value) {
    return bytes(value.getBytes(StandardCharsets.UTF_8));
  }

  /** A text for people, cut to a bound; a cut character becomes a replacement character. */
  MessageWriter cutText(String value, int maxBytes) {
    byte[] encoded = value.getBytes(StandardCharsets.UTF_8);
    return bytes(encoded.length > maxBytes ? Arrays.copyOf(encoded, maxBytes) : encoded);
  }

  int size() {
    return output.position();
  }

  byte[] toBytes() {
    return output.toBytes();
  }
}
