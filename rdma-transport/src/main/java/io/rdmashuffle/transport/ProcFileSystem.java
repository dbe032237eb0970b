package io.rdmashuffle.transport;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;

/** What {@code /proc} says of this process and of others. Stateless; for any thread. */
public final class ProcFileSystem {
  /** The one of this host. */
  public static final ProcFileSystem SYSTEM = new ProcFileSystem(Path.of("/proc"));

  /** Fields of {@code /proc/pid/stat} behind the command name, which may itself hold blanks. */
  private static final int STATE_FIELD = 0;

  private static final int START_TIME_FIELD = 19;

  /** Positions that every file system admits, in number enough that no two are chosen alike. */
  private static final long MAX_MARK = 1L << 40;

  private final Path root;

  ProcFileSystem(Path root) {
    this.root = root;
  }

  /**
   * The identity of this process.
   *
   * @throws IOException when there is no usable {@code /proc}
   */
  public ProcessIdentity self() throws IOException {
    String stat = read("self", "stat");
    try {
      // Not ProcessHandle: a /proc of an outer pid namespace shows another pid than getpid().
      long pid = Long.parseLong(stat.substring(0, stat.indexOf(' ')));
      UUID bootId = UUID.fromString(read("sys", "kernel", "random", "boot_id").trim());
      return new ProcessIdentity(
          bootId, pidNamespace("self"), pid, Long.parseLong(field(stat, START_TIME_FIELD)));
    } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
      throw new IOException("cannot make sense of " + root, e);
    }
  }

  /**
   * Whether a process of this host and pid namespace still runs. One that was killed and that its
   * parent has not yet taken note of does not.
   */
  public boolean isRunning(ProcessIdentity process) {
    try {
      String stat = read(Long.toString(process.pid()), "stat");
      char state = field(stat, STATE_FIELD).charAt(0);
      return state != 'Z'
          && state != 'X'
          && Long.parseLong(field(stat, START_TIME_FIELD)) == process.startTime();
    } catch (IOException | IllegalArgumentException | IndexOutOfBoundsException e) {
      return false;
    }
  }

  /**
   * The pid namespace of a process. The kernel answers only those who may also open the descriptors
   * of that process.
   */
  public long pidNamespace(long pid) throws IOException {
    return pidNamespace(Long.toString(pid));
  }

  /** The link through which an open file of a process is opened again. */
  public Path descriptor(long pid, int descriptor) {
    return root.resolve(Long.toString(pid)).resolve("fd").resolve(Integer.toString(descriptor));
  }

  /**
   * The descriptor of this process behind which a file of that name is open, {@link
   * SlabMemory#NO_DESCRIPTOR} if none is. Works for files already unlinked.
   */
  int findDescriptor(String fileName) throws IOException {
    try (DirectoryStream<Path> links = Files.newDirectoryStream(root.resolve("self/fd"))) {
      for (Path link : links) {
        if (targetOf(link).contains("/" + fileName)) {
          return Integer.parseInt(link.getFileName().toString());
        }
      }
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
    return SlabMemory.NO_DESCRIPTOR;
  }

  /**
   * The descriptor of this process behind an open file, {@link SlabMemory#NO_DESCRIPTOR} if it is
   * not found. Others may have the same file open; a position that nobody else would choose, which
   * the channel is left at, tells it from theirs.
   */
  int descriptorOf(FileChannel channel, Path file) throws IOException {
    long position = ThreadLocalRandom.current().nextLong(MAX_MARK);
    channel.position(position);
    String target = file.toRealPath().toString();
    try (DirectoryStream<Path> links = Files.newDirectoryStream(root.resolve("self/fd"))) {
      for (Path link : links) {
        if (targetOf(link).equals(target)
            && positionOf(link.getFileName().toString()) == position) {
          return Integer.parseInt(link.getFileName().toString());
        }
      }
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
    return SlabMemory.NO_DESCRIPTOR;
  }

  /** The position in the open file; -1 when the descriptor was closed in the meantime. */
  private long positionOf(String descriptor) {
    try {
      String info = read("self", "fdinfo", descriptor);
      return Long.parseLong(info.substring(info.indexOf(':') + 1, info.indexOf('\n')).trim());
    } catch (IOException | IllegalArgumentException | IndexOutOfBoundsException e) {
      return -1;
    }
  }

  /** Where the link points; empty when the descriptor was closed in the meantime. */
  private static String targetOf(Path link) {
    try {
      return Files.readSymbolicLink(link).toString();
    } catch (IOException e) {
      return "";
    }
  }

  private long pidNamespace(String pid) throws IOException {
    String target = Files.readSymbolicLink(root.resolve(pid).resolve("ns/pid")).toString();
    try {
      return Long.parseLong(target.substring(target.indexOf('[') + 1, target.indexOf(']')));
    } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
      throw new IOException("cannot make sense of namespace " + target, e);
    }
  }

  private String read(String... names) throws IOException {
    return Files.readString(root.resolve(Path.of("", names)));
  }

  private static String field(String stat, int index) {
    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).trim().split(" ", -1);
    return fields[index];
  }
}
