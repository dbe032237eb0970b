package io.rdmashuffle.spark.read;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Readers of other processes, over shared memory that is freed, reused and rewritten all along. */
@Tag("slow")
@Timeout(240)
final class TortureTest {
  private static final int BLOCKS = Boolean.getBoolean("test.nightly") ? 50_000_000 : 600_000;
  private static final int SECONDS = Boolean.getBoolean("test.nightly") ? 180 : 55;

  @TempDir private Path directory;

  @Test
  void noStaleBlockIsDelivered() throws Exception {
    try (Torture torture = new Torture(directory, "shm", 150)) {
      torture.addReader(SECONDS, BLOCKS);
      torture.addReader(SECONDS, BLOCKS);
      Torture.Counts counts = torture.run(150);
      assertEquals(0, counts.wrong());
      assertTrue(counts.right() >= 1_000_000, counts.toString());
      assertTrue(counts.stale() > 1000 && counts.stops() > 10, counts.toString());
    }
  }

  /** Shows that the memory does change under the readers. */
  @Test
  void aReaderThatDoesNotCheckIsCaught() throws Exception {
    try (Torture torture = new Torture(directory, "shm", 150)) {
      torture.addReader(SECONDS, Integer.MAX_VALUE, TortureReader.TRUSTING);
      assertTrue(torture.run(150).wrong() > 0);
    }
  }
}
