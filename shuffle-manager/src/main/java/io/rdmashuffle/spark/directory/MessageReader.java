package io.rdmashuffle.spark.directory;

import com.esotericsoftware.kryo.KryoException;
import com.esotericsoftware.kryo.io.Input;
import java.nio.charset.StandardCharsets;

/**
 * Reads one message that may come from anybody. Every count and length is checked against its bound
 * and against the bytes that are left before anything is allocated for it.
 */
final class MessageReader {
  private final Input input;
  private final byte type;

  /**
   * @throws DirectoryMessageException when there is no header, or it names another version
   */
  MessageReader(byte[] message) throws DirectoryMessageException {
    if (message.length < 2) {
      throw new DirectoryMessageException("message of " + message.length + " bytes has no header");
    }
    if (message[0] != Messages.VERSION) {
      throw new DirectoryMessageException(
          "directory message of version "
              + (message[0] & 0xFF)
              + ", this side speaks version "
              + Messages.VERSION
              + ": different plugin jars on driver and executor");
    }
    type = message[1];
    input = new Input(message, 2, message.length - 2);
  }

  byte type() {
    return type;
  }

  /** Fails unless the message is of that type. */
  MessageReader expect(byte expected) throws DirectoryMessageException {
    if (type != expected) {
      throw new DirectoryMessageException("message type=" + type + ", expected " + expected);
    }
    return this;
  }

  private int remaining() {
    return input.limit() - input.position();
  }

  boolean flag() throws DirectoryMessageException {
    require(1);
    byte value = input.readByte();
    if (value != 0 && value != 1) {
      throw new DirectoryMessageException("flag=" + value);
    }
    return value == 1;
  }

  /** A number from 0 to {@code max}. */
  int count(String what, int max) throws DirectoryMessageException {
    int value;
    try {
      value = input.readVarInt(true);
    } catch (KryoException e) {
      throw cutShort(e);
    }
    if (value < 0 || value > max) {
      throw new DirectoryMessageException(what + "=" + value + " is not within 0 to " + max);
    }
    return value;
  }

  /** A number of elements that take at least {@code minBytesEach} bytes of this message each. */
  int elements(String what, int max, int minBytesEach) throws DirectoryMessageException {
    int value = count(what, max);
    if ((long) value * minBytesEach > remaining()) {
      throw new DirectoryMessageException(
          what + "=" + value + " do not fit into " + remaining() + " bytes");
    }
    return value;
  }

  /** A number that is not negative. */
  long length(String what) throws DirectoryMessageException {
    long value = varLong(true);
    if (value < 0) {
      throw new DirectoryMessageException(what + "=" + value + " is negative");
    }
    return value;
  }

  long delta() throws DirectoryMessageException {
    return varLong(false);
  }

  private long varLong(boolean positive) throws DirectoryMessageException {
    try {
      return input.readVarLong(positive);
    } catch (KryoException e) {
      throw cutShort(e);
    }
  }

  int fixedInt() throws DirectoryMessageException {
    require(Integer.BYTES);
    return input.readInt();
  }

  long fixedLong() throws DirectoryMessageException {
    require(Long.BYTES);
    return input.readLong();
  }

  private void require(int bytes) throws DirectoryMessageException {
    if (remaining() < bytes) {
      throw cutShort(null);
    }
  }

  byte[] bytes(String what, int max) throws DirectoryMessageException {
    return input.readBytes(elements(what, max, 1));
  }

  String text(String what, int maxBytes) throws DirectoryMessageException {
    return new String(bytes(what, maxBytes), StandardCharsets.UTF_8);
  }

  /** Fails when bytes are left. */
  void end() throws DirectoryMessageException {
    if (remaining() != 0) {
      throw new DirectoryMessageException(remaining() + " bytes after the end of the message");
    }
  }

  private static DirectoryMessageException cutShort(KryoException cause) {
    return new DirectoryMessageException("message is cut short", cause);
  }
}
