package io.rdmashuffle.spark.read;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.rdmashuffle.store.MappedOutput;
import io.rdmashuffle.transport.Fault;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Outputs that lie in files of the owner, read from there. */
@Timeout(60)
class MappedFileReadTest {
  /** The one key that an index block here ends with. */
  private static final int KEY_LENGTH = 24;

  @TempDir private Path directory;

  private Path file(int number) {
    return directory.resolve("shuffle_1_" + number + "_0.data");
  }

  @Test
  void isReadAsMemoryIsAndTogetherWithIt() throws Exception {
    try (TwoExecutors pair = new TwoExecutors()) {
      pair.writeFile(file(0), 1, 0, 1000, 0, 70_000, 5);
      pair.write(1, 1, 1000, 10, 20, 30);
      pair.writeFile(file(2), 1, 2, 3_000_000, 1, 1, 1);
      Fetch fetch =
          pair.fetch(
              "shuffle_1_0_0", "shuffle_1_0_2", "shuffle_1_1_0", "shuffle_1_2_0", "shuffle_1_2_3");
      pair.assertRight(fetch, "shm", 5);
      pair.assertRight(pair.fetch("shuffle_1_0_2_4", "shuffle_1_2_1_4"), "shm", 7);
      assertEquals(1, pair.indexCache.size(), "the owner may give a file up at any time");
      pair.assertClean();
    }
  }

  @Test
  void isReadIntoFilesOfSparkToo() throws Exception {
    DownloadFiles files = new DownloadFiles(directory, false);
    try (TwoExecutors pair = new TwoExecutors()) {
      pair.writeFile(file(0), 1, 0, 20_000_000, 7);
      Fetch fetch = pair.fetchToFiles(files, "shuffle_1_0_0", "shuffle_1_0_1");
      pair.assertRight(fetch, "shm", 2);
      fetch.release();
      pair.assertClean();
    }
  }

  @Test
  void isStaleOnceTheOwnerGaveItUp() throws Exception {
    try (TwoExecutors pair = new TwoExecutors()) {
      MappedOutput output = pair.writeFile(file(0), 1, 0, 1000, 1000);
      pair.assertRight(pair.fetch("shuffle_1_0_0"), "shm", 1);
      pair.mapped.remove(output);
      pair.assertRight(pair.fetch("shuffle_1_0_1"), "shm", 1, "STALE", 1, "tcp", 1);
      pair.assertClean();
    }
  }

  @Test
  void isStaleWhenTheOwnerGivesItUpWhileItIsRead() throws Exception {
    ReadHook hook = new ReadHook();
    try (TwoExecutors pair = new TwoExecutors(hook)) {
      MappedOutput output = pair.writeFile(file(0), 1, 0, 1000, 1000);
      hook.before(2, () -> pair.mapped.remove(output)); // the index block comes first
      pair.assertRight(pair.fetch("shuffle_1_0_0"), "STALE", 1, "tcp", 1);
      pair.assertClean();
    }
  }

  @Test
  void oneThatIsShorterThanItShouldBeGoesToTcp() throws Exception {
    try (TwoExecutors pair = new TwoExecutors()) {
      pair.writeFile(file(0), 1, 0, 1000, 100_000);
      try (FileChannel channel = FileChannel.open(file(0), StandardOpenOption.WRITE)) {
        channel.truncate(5000);
      }
      pair.assertRight(pair.fetch("shuffle_1_0_1"), "READ_FAILED", 1, "tcp", 1);
      pair.assertClean();
    }
  }

  @Test
  void oneThatWasReplacedOrDeletedIsReadAsItWas() throws Exception {
    try (TwoExecutors pair = new TwoExecutors()) {
      pair.writeFile(file(0), 1, 0, 1000);
      Files.delete(file(0));
      Files.write(file(0), new byte[1000]);
      pair.assertRight(pair.fetch("shuffle_1_0_0"), "shm", 1);
      pair.assertClean();
    }
  }

  @Test
  void oneThatTheTransportCannotReadGoesToTcp() throws Exception {
    try (TwoExecutors pair = new TwoExecutors()) {
      MappedOutput output = pair.writeFile(file(0), 1, 0, 1000);
      int key = output.location().offset() + output.location().length() - KEY_LENGTH;
      pair.memoryOfSlab(output.location().slabId()).put(key, (byte) 'x'); // "xhm"
      pair.assertRight(pair.fetch("shuffle_1_0_0"), "FILE_TIER", 1, "tcp", 1);
      pair.assertClean();
    }
  }

  @Test
  void keysThatLeadNowhereCostAFallback() throws Exception {
    assertFallsBack(8, Long.MAX_VALUE); // no file is that long
    assertFallsBack(8, -1);
    assertFallsBack(8, 1L << 20); // in a slab, but this is none
    assertFallsBack(16, 1L << 20); // no such descriptor
    assertFallsBack(16, -1);
  }

  /**
   * @param position of the lie in the key of the file: 8 is the address, 16 the descriptor
   */
  private void assertFallsBack(int position, long lie) throws Exception {
    try (TwoExecutors pair = new TwoExecutors()) {
      MappedOutput output = pair.writeFile(file(0), 1, 0, 1000);
      int key = output.location().offset() + output.location().length() - KEY_LENGTH;
      ByteBuffer slab = pair.memoryOfSlab(output.location().slabId());
      if (position == 8) {
        slab.putLong(key + position, lie);
      } else {
        slab.putInt(key + position, (int) lie);
      }
      pair.assertRight(pair.fetch("shuffle_1_0_0"), "READ_FAILED", 1, "tcp", 1);
      pair.assertClean();
    }
  }

  @Test
  void faultsOfTheTransportGoToTcp() throws Exception {
    ReadHook hook = new ReadHook();
    try (TwoExecutors pair = new TwoExecutors(hook)) {
      hook.set((number, length) -> number == 2 ? Fault.ERROR : Fault.NONE);
      pair.writeFile(file(0), 1, 0, 1000);
      pair.assertRight(pair.fetch("shuffle_1_0_0"), "READ_FAILED", 1, "tcp", 1);
      pair.assertClean();
    }
  }
}
