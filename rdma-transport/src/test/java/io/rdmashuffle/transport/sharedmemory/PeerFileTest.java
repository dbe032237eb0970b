package io.rdmashuffle.transport.sharedmemory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.transport.FileWindow;
import io.rdmashuffle.transport.ProcFileSystem;
import io.rdmashuffle.transport.ProcessIdentity;
import io.rdmashuffle.transport.SlabMemory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** This process plays the peer as well. */
class PeerFileTest {
  @TempDir private Path directory;

  private final LongAdder openCount = new LongAdder();

  @Test
  void endsWithAnErrorWhereTheFileEnds() throws Exception {
    ProcessIdentity self = ProcFileSystem.SYSTEM.self();
    Path path = Files.write(directory.resolve("file"), new byte[] {1, 2, 3, 4});
    try (SlabMemory window = FileWindow.map(path, 0, 4)) {
      PeerFile file = new PeerFile(self, window.descriptor(), openCount);
      assertEquals(1, openCount.sum());
      ByteBuffer target = ByteBuffer.allocateDirect(8);
      file.copyTo(target, 1, window.peerAddress() + 2, 2);
      assertEquals(3, target.get(1));
      assertEquals(4, target.get(2));
      try (FileChannel channel = FileChannel.open(path, StandardOpenOption.WRITE)) {
        channel.truncate(3);
      }
      IOException failure =
          assertThrows(
              IOException.class, () -> file.copyTo(target, 1, window.peerAddress() + 2, 2));
      assertTrue(failure.getMessage().contains("the file ends at 3"), failure.getMessage());
      file.release();
      assertEquals(0, openCount.sum());
    }
  }

  @Test
  void isNotOpenedOnceItsOwnerIsAnotherProcess() throws Exception {
    ProcessIdentity self = ProcFileSystem.SYSTEM.self();
    ProcessIdentity former =
        new ProcessIdentity(self.bootId(), self.pidNamespace(), self.pid(), self.startTime() - 1);
    Path path = Files.write(directory.resolve("file"), new byte[4]);
    try (SlabMemory window = FileWindow.map(path, 0, 4)) {
      IOException failure =
          assertThrows(
              IOException.class, () -> new PeerFile(former, window.descriptor(), openCount));
      assertTrue(failure.getMessage().contains("has ended"), failure.getMessage());
      assertEquals(0, openCount.sum());
    }
  }

  @Test
  void addressesOfSlabsAndBeyondAllFilesAreOutside() throws Exception {
    Path path = Files.write(directory.resolve("file"), new byte[4]);
    try (SlabMemory window = FileWindow.map(path, 0, 4)) {
      PeerFile file = new PeerFile(ProcFileSystem.SYSTEM.self(), window.descriptor(), openCount);
      assertTrue(file.contains(window.peerAddress(), 4));
      assertFalse(file.contains(4096, 4));
      assertFalse(file.contains(-1, 4));
      assertFalse(file.contains(Long.MAX_VALUE, 4));
      file.release();
    }
  }
}
