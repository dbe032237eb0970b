package io.rdmashuffle.transport;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Chooses how slabs are created in this process. */
public final class SlabFactories {
  private SlabFactories() {}

  /**
   * A factory of shareable slabs where the directory and {@code /proc} permit, else of anonymous
   * ones; {@link SlabFactory#shareable()} says which, and why.
   *
   * @param directory value of {@code spark.shuffle.rdma.memory.dir}
   * @param owner whose slabs these are
   */
  public static SlabFactory open(Path directory, PeerIdentity owner) {
    return open(directory, owner, ProcFileSystem.SYSTEM);
  }

  static SlabFactory open(Path directory, PeerIdentity owner, ProcFileSystem proc) {
    String obstacle = obstacleIn(directory);
    if (obstacle == null) {
      try {
        return new TmpfsSlabFactory(directory, owner, proc);
      } catch (IOException e) {
        obstacle = "no shareable slab can be created in " + directory + ": " + e;
      }
    }
    return new AnonymousSlabFactory(
        owner,
        obstacle
            + "; executors on this host cannot read each other's memory, set "
            + SlabSettings.DIRECTORY
            + " to a writable directory on tmpfs");
  }

  private static String obstacleIn(Path directory) {
    if (!Files.exists(directory)) {
      return "directory " + directory + " does not exist";
    }
    if (!Files.isDirectory(directory)) {
      return directory + " is not a directory";
    }
    if (!Files.isWritable(directory)) {
      return "directory "
          + directory
          + " is not writable for user "
          + System.getProperty("user.name");
    }
    return null;
  }
}
