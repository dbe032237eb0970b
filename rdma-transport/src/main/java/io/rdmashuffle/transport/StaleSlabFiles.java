package io.rdmashuffle.transport;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes what processes left behind that died between creating a slab's file and unlinking it. A
 * file is removed only when this process can tell that its creator is gone: same boot of the same
 * host, same pid namespace, same user. Others may use the same directory.
 */
final class StaleSlabFiles {
  private static final Logger LOGGER = LoggerFactory.getLogger(StaleSlabFiles.class);

  private final Path directory;
  private final ProcFileSystem proc;
  private final ProcessIdentity self;

  StaleSlabFiles(Path directory, ProcFileSystem proc, ProcessIdentity self) {
    this.directory = directory;
    this.proc = proc;
    this.self = self;
  }

  /** How many files were removed; a file that cannot be removed is left and does no harm. */
  int remove(int userId) {
    int count = 0;
    try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
      for (Path file : files) {
        if (isStale(file, userId) && Files.deleteIfExists(file)) {
          count++;
        }
      }
    } catch (IOException | DirectoryIteratorException e) {
      LOGGER.debug("cannot remove stale slabs from {}", directory, e);
    }
    return count;
  }

  private boolean isStale(Path file, int userId) throws IOException {
    ProcessIdentity creator = SlabFileName.creatorOf(file).orElse(null);
    return creator != null
        && creator.isInNamespaceOf(self)
        && !proc.isRunning(creator)
        && Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)
        && Integer.valueOf(userId)
            .equals(Files.getAttribute(file, "unix:uid", LinkOption.NOFOLLOW_LINKS));
  }
}
