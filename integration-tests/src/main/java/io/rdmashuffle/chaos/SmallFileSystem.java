package io.rdmashuffle.chaos;

import io.rdmashuffle.harness.Command;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A directory that can be filled up without harm to others: a tmpfs of its own where this user may
 * mount one, else an ordinary directory that is never filled. Used by one thread at a time.
 */
final class SmallFileSystem implements AutoCloseable {
  private static final int CHUNK_BYTES = 1 << 20;

  private final Path directory;
  private final Path ballast;
  private final boolean isMounted;
  private final String obstacle;

  private SmallFileSystem(Path directory, boolean isMounted, String obstacle) {
    this.directory = directory;
    this.ballast = directory.resolve("ballast");
    this.isMounted = isMounted;
    this.obstacle = obstacle;
  }

  /**
   * @param otherwise where to go when nothing can be mounted
   */
  static SmallFileSystem open(Path mountPoint, int megabytes, Path otherwise) {
    try {
      Files.createDirectories(mountPoint);
      Files.createDirectories(otherwise);
      Command.run(
          "mount",
          "-t",
          "tmpfs",
          "-o",
          "mode=1777,size=" + megabytes + "m",
          "chaos",
          mountPoint.toString());
      return new SmallFileSystem(mountPoint, true, "");
    } catch (IllegalStateException e) {
      return new SmallFileSystem(
          otherwise, false, "needs the right to mount a tmpfs of its own: " + e.getMessage());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  Path directory() {
    return directory;
  }

  /** Takes all the room that is left. */
  void fill() throws ImpossibleException {
    if (!isMounted) {
      throw new ImpossibleException(obstacle);
    }
    byte[] chunk = new byte[CHUNK_BYTES];
    try (OutputStream out = Files.newOutputStream(ballast)) {
      while (true) {
        out.write(chunk);
      }
    } catch (IOException full) {
      // As wished.
    }
  }

  /** Gives it back. */
  void drain() {
    try {
      Files.deleteIfExists(ballast);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    if (isMounted) {
      Command.run("umount", directory.toString());
    }
  }
}
