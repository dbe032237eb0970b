package io.rdmashuffle.transport;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SlabFactoryTest {
  private static final int LENGTH = 1024 * 1024;
  private static final int PAGE = SlabMemory.HEADER_LENGTH;

  private final PeerIdentity owner = AbstractTransportContractTest.identity("1", 1);

  @TempDir private Path directory;

  @Test
  void sharedSlabIsAFileWithoutAName() throws Exception {
    SlabFactory factory = SlabFactories.open(directory, owner);
    assertTrue(factory.shareable().isAvailable(), factory.shareable().cause());
    assertTrue(factory.shareable().cause().contains(directory.toString()));
    try (SlabMemory slab = factory.create(LENGTH)) {
      assertTrue(slab.isShareable());
      assertEquals(LENGTH, slab.length());
      assertArrayEquals(new String[0], directory.toFile().list());
      Path link = Path.of("/proc/self/fd/" + slab.descriptor());
      assertEquals(LENGTH, Files.size(link));
      assertEquals(
          PosixFilePermissions.fromString("rw-------"), Files.getPosixFilePermissions(link));
      assertTrue(SlabHeader.isOwnedBy(slab.buffer(), owner));
    }
  }

  @Test
  void peerSeesWhatTheOwnerWrites() throws Exception {
    SlabMemory slab = SlabFactories.open(directory, owner).create(LENGTH);
    Path link = Path.of("/proc/self/fd/" + slab.descriptor());
    PeerIdentity impostor = AbstractTransportContractTest.identity("1", 2);
    assertThrows(IOException.class, () -> SlabFile.map(link, impostor));
    ByteBuffer mapped = SlabFile.map(link, owner);
    slab.buffer().putLong(LENGTH - 8, 4711);
    assertEquals(4711, mapped.getLong(LENGTH - 8));
    assertEquals(0, mapped.getLong(PAGE), "a new slab holds zeros");
    assertTrue(mapped.isReadOnly());
    slab.close();
    assertFalse(SlabHeader.isLiving(mapped), "the peer learns that the slab is gone");
    assertThrows(IOException.class, () -> SlabFile.map(link, owner));
    Unmapper.unmap(mapped);
  }

  @Test
  void closedSlabLeavesNoDescriptor() throws Exception {
    SlabFactory factory = SlabFactories.open(directory, owner);
    int before = descriptorCount();
    for (int i = 0; i < 10; i++) {
      factory.create(LENGTH).close();
    }
    assertEquals(before, descriptorCount());
  }

  @Test
  void interruptsSpoilNoSlab() throws Exception {
    SlabFactory factory = SlabFactories.open(directory, owner);
    Thread creator = Thread.currentThread();
    AtomicBoolean isOver = new AtomicBoolean();
    Thread interrupter =
        new Thread(
            () -> {
              while (!isOver.get()) {
                creator.interrupt();
                LockSupport.parkNanos(5_000_000); // rarer than slabs are created
              }
            },
            "interrupter");
    int before = descriptorCount();
    interrupter.start();
    try {
      for (int i = 0; i < 500; i++) {
        factory.create(16 * PAGE).close();
      }
    } finally {
      isOver.set(true);
      while (interrupter.isAlive()) {
        LockSupport.parkNanos(100_000);
      }
      assertTrue(Thread.interrupted(), "the interrupt is kept");
    }
    assertEquals(before, descriptorCount());
    assertArrayEquals(new String[0], directory.toFile().list());
  }

  @Test
  void slabsHaveDifferentNumbers() throws Exception {
    SlabFactory shared = SlabFactories.open(directory, owner);
    SlabFactory anonymous = new AnonymousSlabFactory(owner, "for a test");
    try (SlabMemory one = shared.create(PAGE);
        SlabMemory two = shared.create(PAGE);
        SlabMemory three = anonymous.create(PAGE)) {
      assertNotEquals(one.id(), two.id());
      assertNotEquals(two.id(), three.id());
    }
  }

  @Test
  void lengthIsAMultipleOfAPage() {
    for (SlabFactory factory :
        new SlabFactory[] {
          SlabFactories.open(directory, owner), new AnonymousSlabFactory(owner, "for a test")
        }) {
      for (int length : new int[] {-4096, -1, 0, 1, 4095, 4097}) {
        assertThrows(IllegalArgumentException.class, () -> factory.create(length));
      }
    }
  }

  @Test
  void anonymousSlabSaysWhoseItIsButCannotBeShared() throws Exception {
    SlabFactory factory = new AnonymousSlabFactory(owner, "for a test");
    assertEquals(FailureKind.NO_SHARED_MEMORY, factory.shareable().failureKind());
    try (SlabMemory slab = factory.create(LENGTH)) {
      assertFalse(slab.isShareable());
      assertEquals(SlabMemory.NO_DESCRIPTOR, slab.descriptor());
      assertTrue(SlabHeader.isOwnedBy(slab.buffer(), owner));
    }
  }

  @Test
  void fullTmpfsIsAnExceptionThatSaysWhatToChange() throws Exception {
    assumeMounted("size=8m");
    try {
      SlabFactory factory = SlabFactories.open(directory, owner);
      assertTrue(factory.shareable().cause().contains("tmpfs"));
      try (SlabMemory fits = factory.create(4 * LENGTH)) {
        String message =
            assertThrows(IOException.class, () -> factory.create(6 * LENGTH)).getMessage();
        assertTrue(message.contains(Integer.toString(6 * LENGTH)), message);
        assertTrue(message.contains(4 * LENGTH + " of " + 8 * LENGTH), message);
        assertTrue(message.contains("spark.shuffle.rdma.memory.size"), message);
        assertTrue(message.contains("spark.shuffle.rdma.memory.dir"), message);
        assertEquals(4 * LENGTH, Files.getFileStore(directory).getUsableSpace(), "given back");
        for (int i = PAGE; i < fits.length(); i += PAGE) {
          fits.buffer().put(i, (byte) 1); // a page not backed would end the process here
        }
      }
    } finally {
      run("umount", directory.toString());
    }
  }

  @Test
  void absentDirectoryLeavesAnonymousSlabs() throws Exception {
    assertAnonymous(SlabFactories.open(directory.resolve("absent"), owner), "does not exist");
  }

  @Test
  void fileInPlaceOfTheDirectoryLeavesAnonymousSlabs() throws Exception {
    Path file = Files.createFile(directory.resolve("file"));
    assertAnonymous(SlabFactories.open(file, owner), "is not a directory");
    Files.delete(file);
  }

  @Test
  void unwritableDirectoryLeavesAnonymousSlabs() throws Exception {
    assumeMounted("size=1m,ro");
    try {
      assertAnonymous(SlabFactories.open(directory, owner), "not writable");
    } finally {
      run("umount", directory.toString());
    }
  }

  @Test
  void absenceOfProcLeavesAnonymousSlabs() throws Exception {
    ProcFileSystem noProc = new ProcFileSystem(directory.resolve("absent"));
    assertAnonymous(SlabFactories.open(directory, owner, noProc), "absent");
  }

  @Test
  void staleFilesOfDeadProcessesOnlyAreRemoved() throws Exception {
    ProcessIdentity self = ProcFileSystem.SYSTEM.self();
    Path living = create(self);
    Path dead = create(with(self, self.startTime() - 1, self.pidNamespace()));
    Path elsewhere = create(with(self, self.startTime() - 1, self.pidNamespace() + 1));
    Path foreign = Files.createFile(directory.resolve("rdma-shuffle-slab.of.somebody"));
    Path ofAnotherUser = create(with(self, self.startTime() - 2, self.pidNamespace()));
    boolean isRoot = (Integer) Files.getAttribute(ofAnotherUser, "unix:uid") == 0;
    if (isRoot) {
      Files.setAttribute(ofAnotherUser, "unix:uid", 12345);
    }
    SlabFactories.open(directory, owner);
    assertTrue(Files.exists(living));
    assertFalse(Files.exists(dead));
    assertTrue(Files.exists(elsewhere));
    assertTrue(Files.exists(foreign));
    assertEquals(isRoot, Files.exists(ofAnotherUser));
  }

  @Test
  void twoApplicationsShareADirectory() throws Exception {
    PeerIdentity other =
        new PeerIdentity("other-app", "1", AbstractTransportContractTest.identity("1", 3).token());
    SlabFactory one = SlabFactories.open(directory, owner);
    try (SlabMemory slab = one.create(LENGTH)) {
      SlabFactory two = SlabFactories.open(directory, other);
      try (SlabMemory otherSlab = two.create(LENGTH)) {
        assertTrue(SlabHeader.isOwnedBy(slab.buffer(), owner));
        assertTrue(SlabHeader.isOwnedBy(otherSlab.buffer(), other));
        assertFalse(SlabHeader.isOwnedBy(otherSlab.buffer(), owner));
      }
    }
  }

  private Path create(ProcessIdentity creator) throws IOException {
    return Files.createFile(directory.resolve(SlabFileName.create(creator)));
  }

  private static ProcessIdentity with(ProcessIdentity self, long startTime, long pidNamespace) {
    return new ProcessIdentity(self.bootId(), pidNamespace, self.pid(), startTime);
  }

  private static void assertAnonymous(SlabFactory factory, String reason) throws IOException {
    Availability shareable = factory.shareable();
    assertEquals(FailureKind.NO_SHARED_MEMORY, shareable.failureKind());
    assertTrue(shareable.cause().contains(reason), shareable.cause());
    assertTrue(shareable.cause().contains("spark.shuffle.rdma.memory.dir"), shareable.cause());
    try (SlabMemory slab = factory.create(LENGTH)) {
      assertFalse(slab.isShareable());
    }
  }

  private void assumeMounted(String options) throws Exception {
    assumeTrue(
        run("mount", "-t", "tmpfs", "-o", options, "tmpfs", directory.toString()) == 0,
        "this user cannot mount a tmpfs");
  }

  private static int run(String... command) throws Exception {
    Process process;
    try {
      process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(new File("/dev/null"))
              .start();
    } catch (IOException e) {
      return -1;
    }
    assertTrue(process.waitFor(10, TimeUnit.SECONDS));
    return process.exitValue();
  }

  private static int descriptorCount() {
    String[] names = new File("/proc/self/fd").list();
    return names == null ? 0 : names.length;
  }
}
