package io.rdmashuffle.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.spark.MemoryRoom.Limit;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class MemoryBudgetTest {
  private static final long MIB = 1L << 20;
  private static final long HEAP = 1024 * MIB;
  private static final long RECEIVE = 256 * MIB;
  private static final long SLAB = 64 * MIB;

  /** With MiB for each limit, -1 where there is none. */
  private static MemoryRoom room(long tmpfs, long host, long container) {
    Map<Limit, Long> limits = new EnumMap<>(Limit.class);
    put(limits, Limit.TMPFS_FREE, tmpfs);
    put(limits, Limit.HOST_AVAILABLE, host);
    put(limits, Limit.CONTAINER, container);
    return new MemoryRoom(limits);
  }

  private static void put(Map<Limit, Long> limits, Limit limit, long mib) {
    if (mib >= 0) {
      limits.put(limit, mib * MIB);
    }
  }

  /** Budget in MiB. */
  private static long budget(long tmpfs, long host, long container) {
    return automatic(room(tmpfs, host, container)).bytes() / MIB;
  }

  private static MemoryBudget automatic(MemoryRoom room) {
    return MemoryBudget.automatic(room, HEAP, RECEIVE, SLAB);
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
  void theOverheadThatSparkAsksForCounts() {
    MemoryRoom room = new MemoryRoom(Map.of(Limit.OVERHEAD, 2048 * MIB));
    assertEquals(1280, automatic(room).bytes() / MIB);
  }

  @Test
  void saysHowItCameAbout() {
    String why = automatic(room(2048, 4000, -1)).explanation();
    assertTrue(why.contains("768 MiB") && why.contains("1000 MiB"), why);
    assertTrue(!why.contains("container"), why);
  }

  @Test
  void findsOutAboutThisMachine() {
    MemoryRoom room = MemoryRoom.onThisMachine(Path.of("/dev/shm"), new SparkConf(false));
    for (Limit limit :
        List.of(Limit.TMPFS_FREE, Limit.TMPFS_SIZE, Limit.HOST_AVAILABLE, Limit.HOST_SIZE)) {
      assertTrue(room.of(limit).getAsLong() > 0, limit::toString);
    }
    MemoryRoom without = MemoryRoom.onThisMachine(Path.of("/no/such/place"), new SparkConf(false));
    assertTrue(without.of(Limit.TMPFS_FREE).isEmpty());
  }

  @ParameterizedTest
  @CsvSource({
    "TMPFS_SIZE, 2048, 1792, memory.dir",
    "HOST_SIZE, 4096, 2816, memory of the host",
    "CONTAINER, 4096, 2816, container",
    "OVERHEAD, 2048, 1792, spark.executor.memoryOverhead",
  })
  void whatNoLimitLeavesRoomForIsRefusedWithTheArithmetic(
      Limit limit, long limitMib, long mostMib, String name) {
    MemoryRoom room = new MemoryRoom(Map.of(limit, limitMib * MIB));
    MemoryBudget.check(mostMib * MIB, room, HEAP, RECEIVE);
    String message =
        assertThrows(
                IllegalArgumentException.class,
                () -> MemoryBudget.check((mostMib + 1) * MIB, room, HEAP, RECEIVE))
            .getMessage();
    for (String part :
        new String[] {
          "spark.shuffle.rdma.memory.size is " + (mostMib + 1) + " MiB",
          name,
          limitMib + " MiB",
          "leaves " + mostMib + " MiB"
        }) {
      assertTrue(message.contains(part), message);
    }
  }

  /** HEAP is 1024 MiB, RECEIVE 256, the JVM's overhead 512; map outputs take 100 here. */
  @ParameterizedTest
  @CsvSource({
    "CONTAINER, 4096, 2204",
    "CONTAINER, 1500, 0",
    "OVERHEAD, 2048, 1180",
    "LOCKED, 1000, 644",
    "LOCKED, 200, 0",
    "HOST_AVAILABLE, 2000, 500",
    "TMPFS_FREE, 1, 2097152",
  })
  void filesMayStayInMemoryAsFarAsTheLimitsLeaveRoom(Limit limit, long limitMib, long leftMib) {
    Map<Limit, Long> limits = new EnumMap<>(Map.of(Limit.HOST_AVAILABLE, 8L << 40));
    limits.put(limit, limitMib * MIB);
    MemoryRoom room = new MemoryRoom(limits);
    assertEquals(leftMib * MIB, MemoryBudget.leftForFiles(room, HEAP, RECEIVE, 100 * MIB));
  }

  @ParameterizedTest
  @CsvSource({
    "0000000000000000, 8388608, 8388608",
    "0000000000000000, unlimited, -1",
    "000001ffffffffff, 8388608, -1",
    "0000000000004000, 8388608, -1",
    "'', 8388608, -1",
  })
  void lockedMemoryIsLimitedForWhomTheKernelLimitsIt(
      String capabilities, String limit, long expected) {
    List<String> status = List.of("Name:\tjava", "CapEff:\t" + capabilities);
    List<String> limits =
        List.of(
            "Limit                     Soft Limit           Hard Limit           Units     ",
            "Max locked memory         %-20s unlimited            bytes     ".formatted(limit));
    assertEquals(expected, MemoryRoom.locked(status, limits).orElse(-1));
  }

  @Test
  void whatIsFreeAtTheMomentRefusesNothing() {
    MemoryBudget.check(4096 * MIB, room(1, 1, -1), HEAP, RECEIVE);
  }

  @ParameterizedTest
  @CsvSource({
    "yarn, 1g, '', 384",
    "yarn, 10g, '', 1024",
    "k8s://https://host, 1g, 3g, 3072",
    "spark://host, 1g, 3g, -1",
  })
  void clusterManagersGrantTheOverheadOfTheSettings(
      String master, String heap, String overhead, long expectedMib) {
    SparkConf conf =
        new SparkConf(false).set("spark.master", master).set("spark.executor.memory", heap);
    if (!overhead.isEmpty()) {
      conf.set("spark.executor.memoryOverhead", overhead);
    }
    OptionalLong found = MemoryRoom.ofSettings(conf).of(Limit.OVERHEAD);
    assertEquals(
        expectedMib < 0 ? OptionalLong.empty() : OptionalLong.of(expectedMib * MIB), found);
  }
}
