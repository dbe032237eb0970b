package io.rdmashuffle.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileWindowTest {
  @TempDir private Path directory;

  @Test
  void holdsTheBytesFromItsPositionOn() throws Exception {
    Path file = directory.resolve("sparse");
    long end = FileWindow.MAX_LENGTH + 5000L;
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      channel.write(ByteBuffer.wrap(new byte[] {1, 2, 3}), end - 3);
    }
    try (SlabMemory first = FileWindow.map(file, 0, FileWindow.MAX_LENGTH);
        SlabMemory second = FileWindow.map(file, FileWindow.MAX_LENGTH, 5000)) {
      assertEquals(2, second.buffer().get(4998));
      assertTrue(FileWindow.isInFile(second.peerAddress()));
      assertEquals(0, FileWindow.positionOf(first.peerAddress()));
      assertEquals(end - 3, FileWindow.positionOf(second.peerAddress() + 4997));
      assertNotEquals(first.id(), second.id());
      assertNotEquals(first.descriptor(), second.descriptor(), "each by a descriptor of its own");
      assertTrue(second.buffer().isReadOnly());
    }
  }

  @Test
  void isReachedByItsOwnDescriptorThoughOthersHaveTheFileOpen() throws Exception {
    Path file = Files.write(directory.resolve("file"), new byte[100]);
    try (FileChannel before = FileChannel.open(file, StandardOpenOption.READ)) {
      SlabMemory window = FileWindow.map(file, 0, 100);
      Path link = Path.of("/proc/self/fd", Integer.toString(window.descriptor()));
      assertTrue(window.isShareable());
      assertEquals(file.toRealPath(), Files.readSymbolicLink(link));
      window.close();
      assertFalse(Files.isSymbolicLink(link), "the descriptor went with the window");
      assertEquals(0, before.position(), "that of others is as it was");
    }
  }

  @Test
  void leavesNothingBehindAndTheFileAsItWas() throws Exception {
    byte[] bytes = {1, 2, 3, 4};
    Path file = Files.write(directory.resolve("file"), bytes);
    FileWindow.map(file, 0, 4).close();
    int before = descriptorCount();
    for (int i = 0; i < 100; i++) {
      SlabMemory window = FileWindow.map(file, 0, 4);
      window.close();
      window.close();
    }
    assertEquals(before, descriptorCount());
    assertEquals(ByteBuffer.wrap(bytes), ByteBuffer.wrap(Files.readAllBytes(file)));
  }

  @Test
  void isRefusedWhereTheFileIsShortOrMissingOrALink() throws Exception {
    Path file = Files.write(directory.resolve("file"), new byte[100]);
    Path link = Files.createSymbolicLink(directory.resolve("link"), file);
    int before = descriptorCount();
    IOException failure = assertThrows(IOException.class, () -> FileWindow.map(file, 0, 101));
    assertTrue(failure.getMessage().contains("100 bytes, expected 101"), failure.getMessage());
    assertThrows(IOException.class, () -> FileWindow.map(directory.resolve("none"), 0, 1));
    assertThrows(IOException.class, () -> FileWindow.map(link, 0, 1));
    assertEquals(before, descriptorCount());
  }

  private static int descriptorCount() {
    String[] names = new File("/proc/self/fd").list();
    return names == null ? 0 : names.length;
  }
}
