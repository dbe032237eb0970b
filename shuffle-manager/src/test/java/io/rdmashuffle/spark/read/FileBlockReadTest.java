package io.rdmashuffle.spark.read;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.store.ChecksumAlgorithm;
import io.rdmashuffle.transport.Fault;
import io.rdmashuffle.transport.FaultGenerator;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.spark.network.shuffle.DownloadFile;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.network.util.TransportConf;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Blocks that Spark wants in files, from real shared memory. */
@Timeout(120)
final class FileBlockReadTest {
  /** Several windows: each is a quarter of the 8 MiB of receive memory. */
  private static final int LARGE = (20 << 20) + 5;

  private static final int WINDOWS = 11;

  private static final String BLOCK = "shuffle_1_0_1";

  @TempDir private Path directory;
  private DownloadFiles files;

  @BeforeEach
  void openDirectory() {
    files = new DownloadFiles(directory, false);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aBlockLargerThanReceiveMemoryIsReadInWindows(boolean isFaulty) throws Exception {
    ReadHook hook = new ReadHook();
    try (TwoExecutors pair = new TwoExecutors(isFaulty, hook, 8)) {
      pair.write(1, 0, 10, LARGE, 3000);
      pair.assertRight(pair.fetchToFiles(files, BLOCK), "shm", 1);
      pair.assertRight(pair.fetchToFiles(files, "shuffle_1_0_0_3"), "shm", 2);
      assertEquals(2, files.registered.size());
      assertEquals(2, files.count());
      pair.assertClean();
    }
  }

  @Test
  void everyWindowIsCheckedBeforeTheNextIsAskedFor() throws Exception {
    ReadHook hook = new ReadHook();
    try (TwoExecutors pair = new TwoExecutors(hook)) {
      pair.write(1, 0, 10, LARGE, 3000);
      int[] generations = new int[1];
      hook.set(
          (number, length) -> {
            generations[0] += length == Long.BYTES ? 1 : 0;
            return Fault.NONE;
          });
      pair.assertRight(pair.fetchToFiles(files, BLOCK), "shm", 1);
      assertEquals(WINDOWS, generations[0]);
    }
  }

  @Test
  void anOutputThatIsFreedBetweenWindowsIsFetchedOverTcpIntoAFile() throws Exception {
    ReadHook hook = new ReadHook();
    try (TwoExecutors pair = new TwoExecutors(hook)) {
      pair.write(1, 0, 10, LARGE, 3000);
      hook.set(
          (number, length) -> {
            if (length == Long.BYTES && number > 10) {
              pair.store.remove(1, 0);
            }
            return Fault.NONE;
          });
      pair.assertRight(pair.fetchToFiles(files, BLOCK), "STALE", 1, "tcp", 1);
      assertSame(files, pair.tcp.files.get(0));
      assertEquals(0, files.count(), "the file of what was read first is left");
      pair.assertClean();
    }
  }

  @Test
  void aReadThatFailsHalfwayIsFetchedOverTcpIntoAFile() throws Exception {
    ReadHook hook = new ReadHook();
    try (TwoExecutors pair = new TwoExecutors(hook)) {
      pair.write(1, 0, 10, LARGE, 3000);
      hook.set((number, length) -> number == 12 ? Fault.ERROR : Fault.NONE);
      pair.assertRight(pair.fetchToFiles(files, BLOCK), "READ_FAILED", 1, "tcp", 1);
      assertSame(files, pair.tcp.files.get(0));
      assertEquals(0, files.count());
      pair.assertClean();
    }
  }

  @Test
  void checksumsAreVerifiedAcrossWindows() throws Exception {
    ReadHook hook = new ReadHook();
    try (TwoExecutors pair = new TwoExecutors(hook, "verifyChecksums", "true")) {
      pair.write(ChecksumAlgorithm.CRC32C, 1, 0, 10, LARGE, 0, 3000);
      pair.assertRight(pair.fetchToFiles(files, "shuffle_1_0_0_4"), "shm", 1);
      hook.set((number, length) -> number > 12 && length > Long.BYTES ? Fault.CORRUPT : Fault.NONE);
      pair.assertRight(pair.fetchToFiles(files, BLOCK), "shm", 1, "CHECKSUM_MISMATCH", 1, "tcp", 1);
      pair.tcp.isCorrupt = true;
      pair.fetchToFiles(files, BLOCK).assertAllFailed();
      pair.assertClean();
    }
  }

  @Test
  void aFileThatCannotBeWrittenFailsTheBlockOnce() throws Exception {
    try (TwoExecutors pair = new TwoExecutors(FaultGenerator.none())) {
      pair.write(1, 0, 10, LARGE, 3000);
      Files.delete(directory);
      pair.fetchToFiles(files, BLOCK).assertAllFailed();
      assertTrue(pair.tcp.fetched.isEmpty(), "the same disk was tried again");
      pair.assertClean();
    } finally {
      Files.createDirectories(directory);
    }
  }

  /** Else the task would wait for the block for ever. */
  @Test
  void anErrorOfTheVirtualMachineFailsTheBlockOnce() throws Exception {
    try (TwoExecutors pair = new TwoExecutors(FaultGenerator.none())) {
      pair.write(1, 0, 10, LARGE, 3000);
      pair.fetchToFiles(new NoHeapForFiles(), BLOCK).assertAllFailed();
      assertTrue(pair.tcp.fetched.isEmpty());
      pair.assertClean();
    }
  }

  private static final class NoHeapForFiles implements DownloadFileManager {
    @Override
    public DownloadFile createTempFile(TransportConf conf) {
      throw new OutOfMemoryError("of the test");
    }

    @Override
    public boolean registerTempFileToClean(DownloadFile file) {
      throw new AssertionError("there is no file");
    }
  }

  @Test
  void theFileOfATaskThatIsOverIsDeleted() throws Exception {
    files = new DownloadFiles(directory, true);
    try (TwoExecutors pair = new TwoExecutors(FaultGenerator.none())) {
      pair.write(1, 0, 10, LARGE, 3000);
      pair.fetchToFiles(files, BLOCK).await();
      awaitNoFile();
      pair.assertClean();
    }
  }

  /** The listener is told first. */
  private void awaitNoFile() throws InterruptedException, IOException {
    for (int i = 0; i < 1000 && files.count() > 0; i++) {
      Thread.sleep(10);
    }
    assertEquals(0, files.count());
  }

  @Test
  void whenThePluginStopsTheBlockGoesToTcp() throws Exception {
    try (TwoExecutors pair = new TwoExecutors(FaultGenerator.none())) {
      pair.write(1, 0, 10, LARGE, 3000);
      pair.stopFileReads();
      pair.assertRight(pair.fetchToFiles(files, BLOCK), "READ_FAILED", 1, "tcp", 1);
      assertEquals(0, files.count());
    }
  }
}
