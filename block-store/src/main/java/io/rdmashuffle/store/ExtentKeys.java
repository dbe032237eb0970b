package io.rdmashuffle.store;

import io.rdmashuffle.store.SlabDescriptor.Registration;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The keys behind an extent of an index block, {@link IndexHeader} has the layout. */
final class ExtentKeys {
  private static final int NAME_LENGTH = 8;

  private ExtentKeys() {}

  /**
   * Writes the keys of the extent at a position.
   *
   * @throws IllegalArgumentException when the name of a transport is longer than 8 bytes
   */
  static void encode(ByteBuffer out, int extentPosition, List<Registration> registrations) {
    int at = extentPosition + IndexHeader.EXTENT_LENGTH;
    for (Registration registration : registrations) {
      byte[] name = registration.transport().getBytes(StandardCharsets.US_ASCII);
      if (name.length > NAME_LENGTH) {
        throw new IllegalArgumentException("transport=" + registration.transport());
      }
      out.put(at, Arrays.copyOf(name, NAME_LENGTH));
      out.putLong(at + 8, registration.remoteAddress());
      out.putInt(at + 16, registration.remoteKey());
      out.putInt(at + 20, 0);
      at += IndexHeader.KEY_LENGTH;
    }
  }

  /** Reads the extent at a position as a window of a file. */
  static SlabDescriptor decode(ByteBuffer in, int extentPosition, int count) {
    List<Registration> registrations = new ArrayList<>(count);
    byte[] name = new byte[NAME_LENGTH];
    for (int i = 0; i < count; i++) {
      int at = extentPosition + IndexHeader.EXTENT_LENGTH + IndexHeader.KEY_LENGTH * i;
      in.get(at, name);
      registrations.add(
          new Registration(
              new String(name, StandardCharsets.US_ASCII).trim(),
              in.getLong(at + 8),
              in.getInt(at + 16)));
    }
    return new SlabDescriptor(
        in.getInt(extentPosition + 16), (int) in.getLong(extentPosition + 8), registrations);
  }
}
