package io.rdmashuffle.transport.sharedmemory;

import io.rdmashuffle.transport.FileWindow;
import io.rdmashuffle.transport.ProcFileSystem;
import io.rdmashuffle.transport.ProcessIdentity;
import io.rdmashuffle.transport.Uninterrupted;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A data file that a peer has open, opened here for one batch of reads and not kept: the peer may
 * close it at any time and have another behind the same descriptor, and a deleted file takes disk
 * until the last reader closes it.
 *
 * <p>It is read and not mapped: where a mapping of a file that somebody shortened faults, a read
 * ends early, which is an error like any other. Belongs to one thread.
 */
final class PeerFile implements PeerMemory {
  private static final Logger LOGGER = LoggerFactory.getLogger(PeerFile.class);

  private final ProcessIdentity owner;
  private final int key;
  private final LongAdder openCount;
  private FileChannel channel;

  /**
   * @param owner the process that has the file open
   * @param key its descriptor
   * @param openCount gauge that counts the file while it is open here
   * @throws IOException when the peer is gone, or has no file behind that descriptor
   */
  PeerFile(ProcessIdentity owner, int key, LongAdder openCount) throws IOException {
    this.owner = owner;
    this.key = key;
    this.openCount = openCount;
    channel = Uninterrupted.run(this::open);
    openCount.increment();
  }

  private FileChannel open() throws IOException {
    Path link = ProcFileSystem.SYSTEM.descriptor(owner.pid(), key);
    // The descriptor may be anybody's by now, and opening a pipe might block.
    if (!Files.isRegularFile(link)) {
      throw new IOException(link + " is no open file, or is not readable for this user");
    }
    FileChannel opened = FileChannel.open(link, StandardOpenOption.READ);
    // Only now: a pid is used again when its process is gone, but not while it runs.
    if (!ProcFileSystem.SYSTEM.isRunning(owner)) {
      opened.close();
      throw new IOException("process " + owner.pid() + ", which had the file open, has ended");
    }
    return opened;
  }

  @Override
  public int key() {
    return key;
  }

  /** How long the file is shows when it is read. */
  @Override
  public boolean contains(long address, int length) {
    return FileWindow.isInFile(address) && address <= Long.MAX_VALUE - length;
  }

  @Override
  public void copyTo(ByteBuffer target, int targetOffset, long address, int length)
      throws IOException {
    ByteBuffer part = target.slice(targetOffset, length);
    long position = FileWindow.positionOf(address);
    Uninterrupted.run(
        () -> {
          if (!channel.isOpen()) { // an interrupt closed it
            channel = open();
          }
          readFully(part.clear(), position);
          return null;
        });
  }

  private void readFully(ByteBuffer part, long position) throws IOException {
    while (part.hasRemaining()) {
      if (channel.read(part, position + part.position()) < 0) {
        throw new IOException(
            "the file ends at "
                + channel.size()
                + ", expected "
                + part.remaining()
                + " bytes at "
                + (position + part.position()));
      }
    }
  }

  @Override
  public void release() {
    openCount.decrement();
    try {
      channel.close();
    } catch (IOException e) {
      LOGGER.debug(
          "closing the file with descriptor {} of a peer failed", key, e); // it was only read
    }
  }
}
