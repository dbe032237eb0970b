package io.rdmashuffle.it.rxe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.harness.Command;
import io.rdmashuffle.harness.ExecutorLauncher;
import io.rdmashuffle.harness.LocalCluster;
import io.rdmashuffle.harness.PluginTotals;
import io.rdmashuffle.it.ExpectedWarnings;
import io.rdmashuffle.it.PluginApp;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * One application of an executor that can read over RDMA and others that cannot, each for its own
 * reason: all blocks arrive, and every executor says why they came by TCP.
 */
@Tag("rxe")
@Timeout(600)
@ExpectedWarnings({
  "go by TCP: (NO_DEVICE|MEMLOCK_TOO_LOW|QP_SETUP_FAILED) ",
  "Transport rdma refused to register "
})
class FallBackTest {
  private static final int EXECUTORS = 4;
  private static final int SOUND = 0;
  private static final int WITHOUT_MEMLOCK = 1;
  private static final int WITH_LITTLE_MEMLOCK = 2;
  private static final int WITH_PORT_DOWN = 3;
  private static final List<Integer> WITHOUT_RDMA = List.of(WITHOUT_MEMLOCK, WITH_PORT_DOWN);

  private static final int TASKS = 12;
  private static final int ROWS = 150;

  // Enough to try the device, not enough for a slab.
  private static final long LITTLE_MEMLOCK = 20 << 20;
  private static final String SLAB_SIZE = "32m";

  private static final long READ_TIMEOUT_MS = 10_000;

  private static final Map<Integer, FallbackLog> LOGS = new HashMap<>();
  private static LocalCluster cluster;
  private static PluginTotals totals;

  @BeforeAll
  static void runOneJob(@TempDir Path dir) throws Exception {
    Command.run("ip", "link", "add", "dummy9", "type", "dummy");
    Command.run("ip", "addr", "add", "10.79.0.1/24", "dev", "dummy9");
    Command.run("rdma", "link", "add", "rxedown", "type", "rxe", "netdev", "dummy9");
    ExecutorLauncher launcher =
        new ExecutorLauncher()
            .withDefaultDevice("rxe0")
            .withMemlock(WITHOUT_MEMLOCK, 64 << 10)
            .withMemlock(WITH_LITTLE_MEMLOCK, LITTLE_MEMLOCK)
            .withDevice(WITH_PORT_DOWN, "rxedown");
    Map<String, String> settings = new HashMap<>(launcher.install(dir));
    settings.put("spark.shuffle.rdma.memory.slabSize", SLAB_SIZE);
    cluster = RxeApp.start("rdma-mixed", EXECUTORS, settings);
    assertEquals(
        PluginApp.expected(cluster, TASKS, ROWS),
        PluginApp.digest(PluginApp.moved(cluster, TASKS, TASKS, ROWS)));
    totals = cluster.totals();
    for (int executor = 0; executor < EXECUTORS; executor++) {
      LOGS.put(executor, FallbackLog.parse(RxeApp.log(cluster, executor)));
    }
    System.out.println(PluginApp.summary(totals));
  }

  @AfterAll
  static void stop() {
    try {
      RxeApp.stopAndFindNothingLeft(cluster);
    } finally {
      Command.tryTo("rdma", "link", "del", "rxedown");
      Command.tryTo("ip", "link", "del", "dummy9");
    }
  }

  @Test
  void allThatSparkReadIsCountedOnceAndTcpWithItsReasons() {
    assertEquals(cluster.metrics().remoteBytes(), totals.allBytes(), PluginApp.summary(totals));
    assertEquals(0, cluster.metrics().failedTasks());
    assertEquals(
        totals.blocks().get("tcp"),
        totals.fallbacks().values().stream().mapToLong(Long::longValue).sum(),
        PluginApp.summary(totals));
  }

  @Test
  void nobodyWaitsLongerThanAReadMay() {
    long waited = cluster.metrics().fetchWaitMillis();
    assertTrue(waited < TASKS * READ_TIMEOUT_MS, () -> "waited " + waited + " ms");
  }

  @Test
  void everyReasonIsLoggedOncePerPeer() {
    LOGS.forEach((executor, log) -> assertTrue(log.isFreeOfRepetition(), log::toString));
  }

  @Test
  void aSoundExecutorSaysThatOthersOfferNoRdma() {
    for (FallbackLog.Line line : LOGS.get(SOUND).lines()) {
      // The settings do name RDMA here, and this executor has it.
      assertFalse(line.reason().equals("DISABLED"), line::toString);
    }
    assertTrue(LOGS.get(SOUND).peers().containsAll(WITHOUT_RDMA), LOGS.get(SOUND)::toString);
  }

  @Test
  void aPortThatIsDownIsNamed() {
    assertSays(WITH_PORT_DOWN, "NO_DEVICE", "DOWN");
  }

  @Test
  void aLimitOfLockedMemoryIsNamed() {
    assertSays(WITHOUT_MEMLOCK, "MEMLOCK_TOO_LOW", "RLIMIT_MEMLOCK=65536");
  }

  @Test
  void aLimitThatAdmitsNoSlabIsNamed() {
    String log = RxeApp.log(cluster, WITH_LITTLE_MEMLOCK);
    assertTrue(log.contains("RLIMIT_MEMLOCK=" + LITTLE_MEMLOCK), log);
    // It has a device, but nowhere to read to, and nothing that others could read.
    assertSetupFailed(WITH_LITTLE_MEMLOCK, SOUND);
    assertSetupFailed(SOUND, WITH_LITTLE_MEMLOCK);
  }

  private static void assertSetupFailed(int reader, int owner) {
    FallbackLog log = LOGS.get(reader);
    assertEquals(Set.of("QP_SETUP_FAILED"), log.of(owner).reasons(), log::toString);
  }

  private static void assertSays(int executor, String reason, String detail) {
    FallbackLog log = LOGS.get(executor);
    assertFalse(log.lines().isEmpty(), "executor " + executor + " logged no fallback");
    assertEquals(Set.of(reason), log.reasons());
    log.lines().forEach(line -> assertTrue(line.detail().contains(detail), line::toString));
  }
}
