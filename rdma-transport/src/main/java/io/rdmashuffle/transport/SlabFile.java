package io.rdmashuffle.transport;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** The file behind a slab, as a peer on the same host sees it. */
public final class SlabFile {
  private SlabFile() {}

  /**
   * Maps a slab of a peer read-only, whole, little-endian. The caller unmaps it.
   *
   * @param link to the open file, below {@code /proc}
   * @param owner whose slab it must be
   * @throws IOException when the link leads to no slab of that owner, or it cannot be mapped
   */
  public static ByteBuffer map(Path link, PeerIdentity owner) throws IOException {
    return Uninterrupted.run(() -> openAndMap(link, owner));
  }

  private static ByteBuffer openAndMap(Path link, PeerIdentity owner) throws IOException {
    // The descriptor may be anybody's by now, and opening a pipe might block.
    if (!Files.isRegularFile(link)) {
      throw new IOException(link + " is no open file, or is not readable for this user");
    }
    try (FileChannel channel = FileChannel.open(link, StandardOpenOption.READ)) {
      long length = channel.size();
      // Read before it is mapped: a file of somebody else may shrink under a mapping.
      if (length > Integer.MAX_VALUE || !SlabHeader.isOwnedBy(readHeader(channel), length, owner)) {
        throw new IOException(link + " is not a slab of " + owner);
      }
      return channel.map(FileChannel.MapMode.READ_ONLY, 0, length).order(ByteOrder.LITTLE_ENDIAN);
    }
  }

  private static ByteBuffer readHeader(FileChannel channel) throws IOException {
    ByteBuffer header =
        ByteBuffer.allocate(SlabMemory.HEADER_LENGTH).order(ByteOrder.LITTLE_ENDIAN);
    while (header.hasRemaining() && channel.read(header, header.position()) >= 0) {
      // until the buffer is full or the file ends
    }
    return header;
  }
}
