package io.rdmashuffle.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.spark.MemoryBudget.Room;
import java.nio.file.Path;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

final class MemoryBudgetTest {
  private static final long MIB = 1L << 20;
  private static final long HEAP = 1024 * MIB;
  private static final long RECEIVE = 256 * MIB;
  private static final long SLAB = 64 * MIB;

  private static OptionalLong mib(long count) {
    return count < 0 ? OptionalLong.empty() : OptionalLong.of(count * MIB);
  }

  /** Budget in MiB for room in MiB, -1 where there is no such limit. */
  private static long budget(long tmpfs, long host, long container) {
    Room room = new Room(mib(tmpfs), mib(host), mib(container));
    return MemoryBudget.automatic(room, HEAP, RECEIVE, SLAB).bytes() / MIB;
  }

  @Test
  void theLeastLimitDecides() {
    assertEquals(768, budget(2048, 100_000, 100_000));
    assertEquals(1024, budget(100_000, 4096, 100_000));
    assertEquals(1280, budget(100_000, 100_000, 1280 + 1024 + 512 + 256));
  }

  @Test
  void limitsThatAreNotThereDoNotCount() {
    assertEquals(768, budget(2048, -1, -1));
    assertEquals(1024, budget(-1, 4096, -1));
    assertEquals(0, budget(-1, -1, 1024));
  }

  @Test
  void nothingIsTakenWhereNothingIsKnown() {
    assertEquals(0, budget(-1, -1, -1));
  }

  @Test
  void isAMultipleOfSlabsAndNeverNegative() {
    assertEquals(0, budget(100, 100_000, 100_000));
    assertEquals(0, budget(512 + 126, 100_000, 100_000), "less than one slab");
    assertEquals(64, budget(512 + 128, 100_000, 100_000));
    assertEquals(128, budget(512 + 2 * 191, 100_000, 100_000));
  }

  @Test
  void saysHowItCameAbout() {
    Room room = new Room(mib(2048), mib(4000), OptionalLong.empty());
    String why = MemoryBudget.automatic(room, HEAP, RECEIVE, SLAB).explanation();
    assertTrue(why.contains("768 MiB") && why.contains("1000 MiB"), why);
    assertTrue(!why.contains("container"), why);
  }

  @Test
  void findsOutAboutThisMachine() {
    Room room = Room.ofThisMachine(Path.of("/dev/shm"));
    assertTrue(room.hostAvailable().getAsLong() > 0);
    assertTrue(room.tmpfsFree().getAsLong() > 0);
    assertTrue(Room.ofThisMachine(Path.of("/no/such/place")).tmpfsFree().isEmpty());
  }
}
