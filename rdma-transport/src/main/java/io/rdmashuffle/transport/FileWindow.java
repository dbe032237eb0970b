package io.rdmashuffle.transport;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;

/**
 * A part of a data file as memory that can be registered: mapped read-only, so that nobody changes
 * the file through it. The file has no header by which a peer on this host could tell whose it is
 * and whether it is still there; so peers do not map it, but open it through the owner's
 * descriptor, make sure that the owner still runs, and read. Stateless; for any thread.
 */
public final class FileWindow {
  /** Most bytes of a window. */
  public static final int MAX_LENGTH = 1 << 30;

  /** What is added to positions within files, to tell them from offsets within slabs. */
  private static final long FIRST_ADDRESS = 1L << 62;

  private static final Set<OpenOption> READ_WITHOUT_LINKS =
      Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS);

  private FileWindow() {}

  /**
   * Maps bytes of a file that will not change. The caller closes the memory, which stays what it is
   * when the file is deleted or replaced meanwhile.
   *
   * @param position of the first byte, a multiple of {@link #MAX_LENGTH}
   * @param length bytes, from 1 to {@link #MAX_LENGTH}
   * @throws IOException when the file does not have those bytes, or cannot be mapped
   */
  public static SlabMemory map(Path file, long position, int length) throws IOException {
    return Uninterrupted.run(() -> openAndMap(file, position, length));
  }

  private static SlabMemory openAndMap(Path file, long position, int length) throws IOException {
    FileChannel channel = FileChannel.open(file, READ_WITHOUT_LINKS);
    boolean isDone = false;
    try {
      if (channel.size() < position + length) {
        throw new IOException(
            file + " has " + channel.size() + " bytes, expected " + (position + length));
      }
      int descriptor = ProcFileSystem.SYSTEM.descriptorOf(channel, file);
      ByteBuffer buffer = channel.map(FileChannel.MapMode.READ_ONLY, position, length);
      isDone = true;
      return new SlabMemory(
          SlabMemory.nextId(), buffer, channel, descriptor, FIRST_ADDRESS + position);
    } finally {
      if (!isDone) {
        channel.close();
      }
    }
  }

  /** Whether an address that a peer was told names a byte of a file, not of a slab. */
  public static boolean isInFile(long peerAddress) {
    return peerAddress >= FIRST_ADDRESS;
  }

  /** The position within the file of an address that names a byte of one. */
  public static long positionOf(long peerAddress) {
    return peerAddress - FIRST_ADDRESS;
  }
}
