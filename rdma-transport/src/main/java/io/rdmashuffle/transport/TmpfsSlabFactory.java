package io.rdmashuffle.transport;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates slabs that are files, mapped shared and unlinked at birth: peers on the host open them
 * through {@code /proc/<pid>/fd}, and nothing is left of them when the process ends in whatever
 * way. The directory should be on tmpfs; on another file system slabs work but are written back to
 * its disk. Any thread may call.
 */
public final class TmpfsSlabFactory implements SlabFactory {
  private static final Logger LOGGER = LoggerFactory.getLogger(TmpfsSlabFactory.class);

  private static final int FILL_CHUNK_LENGTH = 256 * 1024;

  /** On Linux the JDK unlinks a file to be deleted on close as soon as it has opened it. */
  private static final Set<StandardOpenOption> UNLINKED_AT_BIRTH =
      Set.of(
          StandardOpenOption.CREATE_NEW,
          StandardOpenOption.READ,
          StandardOpenOption.WRITE,
          StandardOpenOption.DELETE_ON_CLOSE);

  private static final FileAttribute<Set<PosixFilePermission>> OWNER_ONLY =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

  private final Path directory;
  private final PeerIdentity owner;
  private final ProcFileSystem proc;
  private final ProcessIdentity self;
  private final String fileSystemType;
  private final int pageLength;

  /**
   * Tries the directory out with a slab of one page, and removes what crashed processes left there.
   *
   * @param directory where the files live for the instant before they are unlinked
   * @param owner whose slabs these are
   * @throws IOException when shareable slabs cannot be created there; says why
   */
  public TmpfsSlabFactory(Path directory, PeerIdentity owner) throws IOException {
    this(directory, owner, ProcFileSystem.SYSTEM);
  }

  TmpfsSlabFactory(Path directory, PeerIdentity owner, ProcFileSystem proc) throws IOException {
    this.directory = directory;
    this.owner = owner;
    this.proc = proc;
    self = proc.self();
    FileStore store = Files.getFileStore(directory);
    fileSystemType = store.type();
    pageLength = isHuge() ? (int) store.getBlockSize() : SlabMemory.HEADER_LENGTH;
    tryOut();
  }

  @Override
  public SlabMemory create(int length) throws IOException {
    SlabMemory.requireValidLength(length);
    if (length % pageLength != 0) {
      throw new IOException(
          "a slab of "
              + length
              + " bytes is no multiple of the huge pages of "
              + pageLength
              + " bytes in "
              + directory
              + "; change spark.shuffle.rdma.memory.slabSize or "
              + SlabSettings.DIRECTORY);
    }
    return Uninterrupted.run(() -> createFile(length));
  }

  @Override
  public Availability shareable() {
    return Availability.available(
        "slabs are files on "
            + fileSystemType
            + " in "
            + directory
            + (isInMemory()
                ? ""
                : "; a tmpfs would spare the disk, see " + SlabSettings.DIRECTORY));
  }

  private boolean isInMemory() {
    return fileSystemType.equals("tmpfs") || isHuge();
  }

  private boolean isHuge() {
    return fileSystemType.equals("hugetlbfs");
  }

  private void tryOut() throws IOException {
    try (SlabMemory slab = create(pageLength)) {
      int userId =
          (Integer) Files.getAttribute(proc.descriptor(self.pid(), slab.descriptor()), "unix:uid");
      int count = new StaleSlabFiles(directory, proc, self).remove(userId);
      if (count > 0) {
        LOGGER.info("removed {} slab files of crashed processes from {}", count, directory);
      }
    }
  }

  private SlabMemory createFile(int length) throws IOException {
    String fileName = SlabFileName.create(self);
    FileChannel channel =
        FileChannel.open(directory.resolve(fileName), UNLINKED_AT_BIRTH, OWNER_ONLY);
    boolean isDone = false;
    try {
      SlabMemory slab = map(channel, fileName, length);
      isDone = true;
      return slab;
    } finally {
      if (!isDone) {
        channel.close();
      }
    }
  }

  private SlabMemory map(FileChannel channel, String fileName, int length) throws IOException {
    int descriptor = proc.findDescriptor(fileName);
    if (descriptor == SlabMemory.NO_DESCRIPTOR) {
      throw new IOException("cannot find the descriptor of " + fileName + " in /proc/self/fd");
    }
    back(channel, length);
    ByteBuffer buffer = mapBacked(channel, length);
    SlabMemory slab = new SlabMemory(SlabMemory.nextId(), buffer, channel, descriptor);
    SlabHeader.write(slab, owner);
    requireReachable(slab);
    return slab;
  }

  /**
   * Makes the file system give its pages now. A mapping of a file with holes dies of SIGBUS on
   * first touch when the file system is full.
   */
  private void back(FileChannel channel, int length) throws IOException {
    if (isHuge()) {
      return; // cannot be written, but reserves every page when it is mapped
    }
    ByteBuffer zeros = ByteBuffer.allocateDirect(Math.min(length, FILL_CHUNK_LENGTH));
    try {
      for (long position = 0; position < length; ) {
        zeros.clear().limit((int) Math.min(zeros.capacity(), length - position));
        position += channel.write(zeros, position);
      }
    } catch (ClosedByInterruptException e) {
      throw e; // to be tried again
    } catch (IOException e) {
      channel.close(); // first, so that the space is counted without what this slab took of it
      throw new IOException(noSpaceMessage(length, e), e);
    } finally {
      Unmapper.unmap(zeros);
    }
  }

  private ByteBuffer mapBacked(FileChannel channel, int length) throws IOException {
    try {
      MappedByteBuffer buffer = channel.map(FileChannel.MapMode.READ_WRITE, 0, length);
      if (!isHuge()) {
        // Reading maps 16 pages with each fault, where the first writes would fault page by page.
        buffer.load();
      }
      return buffer;
    } catch (ClosedByInterruptException e) {
      throw e; // to be tried again
    } catch (IOException e) {
      throw new IOException(
          "a slab of "
              + length
              + " bytes cannot be mapped: "
              + e.getMessage()
              + "; "
              + (isHuge()
                  ? "raise vm.nr_hugepages, lower " + SlabSettings.SIZE
                  : "raise vm.max_map_count or ulimit -v")
              + ", or change "
              + SlabSettings.DIRECTORY,
          e);
    }
  }

  private String noSpaceMessage(int length, IOException cause) throws IOException {
    FileStore store = Files.getFileStore(directory);
    return "a slab of "
        + length
        + " bytes does not fit in "
        + directory
        + " ("
        + fileSystemType
        + ", "
        + store.getUsableSpace()
        + " of "
        + store.getTotalSpace()
        + " bytes free): "
        + cause.getMessage()
        + "; enlarge that file system (docker: --shm-size; Kubernetes: an emptyDir with medium"
        + " Memory), lower "
        + SlabSettings.SIZE
        + ", or set "
        + SlabSettings.DIRECTORY
        + " to a larger tmpfs";
  }

  /** Maps the slab as a peer will, so that one that cannot be reached is never published. */
  private void requireReachable(SlabMemory slab) throws IOException {
    try {
      Unmapper.unmap(SlabFile.map(proc.descriptor(self.pid(), slab.descriptor()), owner));
    } catch (IOException e) {
      slab.close();
      throw e;
    }
  }
}
