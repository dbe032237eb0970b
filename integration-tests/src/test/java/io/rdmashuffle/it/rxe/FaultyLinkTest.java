package io.rdmashuffle.it.rxe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.harness.Command;
import io.rdmashuffle.harness.ExecutorLauncher;
import io.rdmashuffle.harness.ExecutorProcess;
import io.rdmashuffle.harness.LocalCluster;
import io.rdmashuffle.harness.PluginTotals;
import io.rdmashuffle.it.ExpectedWarnings;
import io.rdmashuffle.it.PluginApp;
import io.rdmashuffle.it.RunningJob;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two executors on two devices with a link between them that loses packets, fails and comes back,
 * while Spark's own traffic goes elsewhere; one of them is killed meanwhile. Needs the pair of
 * {@code bin/rxe-vm --pair}.
 */
@Tag("rxe")
@Timeout(600)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@ExpectedWarnings({
  // Each kind of failure of a link is wanted here, and the tests look for the lines that matter.
  " WARN ",
  // The kernel says of either device when its link fails and when it is back.
  "ConnectionManager .* reports: "
})
class FaultyLinkTest {
  private static final int TASKS = 12;
  private static final int ROWS = 300;
  private static final long MAX_BACKOFF_MS = 2_000;
  private static final long OUTAGE_SECONDS = 6;
  private static final Set<String> FAILED_IN_FLIGHT = Set.of("READ_FAILED", "READ_TIMEOUT");

  private static LocalCluster cluster;

  @BeforeAll
  static void start(@TempDir Path dir) throws Exception {
    Map<String, String> settings =
        new HashMap<>(
            new ExecutorLauncher()
                .withDevice(0, "rxva")
                .withDevice(1, "rxvb")
                .withDefaultDevice("rxva")
                .install(dir));
    settings.put("spark.shuffle.rdma.ackTimeout", "14");
    // Soft-RoCE takes 7 for "for ever", and only the deadline would end a read.
    settings.put("spark.shuffle.rdma.retryCount", "6");
    settings.put("spark.shuffle.rdma.connect.timeout", "15s");
    settings.put("spark.shuffle.rdma.read.timeout", "5s");
    settings.put("spark.shuffle.rdma.memory.quarantine", "10s");
    settings.put("spark.shuffle.rdma.peer.backoff", "200ms");
    settings.put("spark.shuffle.rdma.peer.maxBackoff", MAX_BACKOFF_MS + "ms");
    settings.put("spark.shuffle.io.retryWait", "1s");
    cluster = RxeApp.start("rdma-link", 2, settings);
  }

  @AfterEach
  void repairLink() {
    for (String end : new String[] {"va", "vb"}) {
      Command.tryTo("tc", "qdisc", "del", "dev", end, "root");
    }
    Command.run("ip", "link", "set", "va", "up");
  }

  @AfterAll
  static void stop() {
    try {
      RxeApp.stopAndFindNothingLeft(cluster);
    } finally {
      // As good as new for tests to come, see the last one here.
      Command.run("rdma", "link", "del", "rxva");
      Command.run("rdma", "link", "add", "rxva", "type", "rxe", "netdev", "va");
    }
  }

  @Test
  @Order(1)
  void aSoundLinkCarriesAllBlocks() throws Exception {
    PluginTotals job = totalsOfOneJob();
    assertTrue(job.bytes("rdma") > 0, () -> PluginApp.summary(job));
    assertEquals(0, job.bytes("tcp"), () -> PluginApp.summary(job));
  }

  @Test
  @Order(2)
  void aLossOf1PercentCostsTime() throws Exception {
    lose("1%");
    PluginTotals job = totalsOfOneJob();
    assertTrue(job.bytes("rdma") > 0, () -> PluginApp.summary(job));
  }

  @Test
  @Order(3)
  void aLossOf10PercentIsSurvived() throws Exception {
    lose("10%");
    totalsOfOneJob();
  }

  @Test
  @Order(4)
  void aLinkThatIsDeadForAWhileIsUsedAgain() throws Exception {
    PluginTotals before = cluster.totals();
    RunningJob job = RunningJob.startAndAwaitReads(cluster, TASKS, ROWS);
    lose("100%");
    TimeUnit.SECONDS.sleep(OUTAGE_SECONDS);
    repairLink();
    job.assertRight();
    assertFailedInFlight(before);

    TimeUnit.MILLISECONDS.sleep(MAX_BACKOFF_MS);
    PluginTotals later = totalsOfOneJob();
    assertTrue(later.bytes("rdma") > 0, () -> PluginApp.summary(later));
  }

  @Test
  @Order(5)
  void aKilledExecutorCostsNothingButTime() throws Exception {
    RunningJob.startAndAwaitReads(cluster, TASKS, ROWS).killAnExecutorAndAssertRight();
    cluster.awaitExecutors(2);
  }

  /**
   * Last, since Linux 6.1's soft-RoCE device is no longer good for new connections once the kernel
   * had to say good-bye on one while its interface was down.
   */
  @Test
  @Order(6)
  void anInterfaceThatIsTakenDownAndUpIsSurvived() throws Exception {
    PluginTotals sound = totalsOfOneJob();
    assertTrue(sound.bytes("rdma") > 0, () -> PluginApp.summary(sound));
    PluginTotals before = cluster.totals();
    RunningJob job = RunningJob.startAndAwaitReads(cluster, TASKS, ROWS);
    Command.run("ip", "link", "set", "va", "down");
    TimeUnit.SECONDS.sleep(OUTAGE_SECONDS);
    Command.run("ip", "link", "set", "va", "up");
    job.assertRight();
    assertFailedInFlight(before);
    totalsOfOneJob();
  }

  private static void lose(String share) {
    for (String end : new String[] {"va", "vb"}) {
      Command.run("tc", "qdisc", "add", "dev", end, "root", "netem", "loss", share);
    }
  }

  private static PluginTotals totalsOfOneJob() throws Exception {
    PluginTotals before = cluster.totals();
    RunningJob.run(cluster, TASKS, ROWS);
    PluginTotals job = cluster.totals().since(before);
    System.out.println(PluginApp.summary(job));
    return job;
  }

  /** Reads failed, and executors logged the error that was first. */
  private static void assertFailedInFlight(PluginTotals before) {
    PluginTotals during = cluster.totals().since(before);
    System.out.println(PluginApp.summary(during));
    Set<String> failed = new TreeSet<>(during.fallbacks().keySet());
    failed.retainAll(FAILED_IN_FLIGHT);
    assertFalse(failed.isEmpty(), () -> "no read failed: " + PluginApp.summary(during));
    List<FallbackLog.Line> named = new ArrayList<>();
    for (ExecutorProcess executor : cluster.executors()) {
      FallbackLog log = FallbackLog.parse(RxeApp.log(cluster, Integer.parseInt(executor.id())));
      log.lines().stream().filter(line -> failed.contains(line.reason())).forEach(named::add);
    }
    named.forEach(System.out::println);
    assertEquals(failed, named.stream().map(FallbackLog.Line::reason).collect(Collectors.toSet()));
    named.forEach(line -> assertTrue(line.detail().contains(" (rxv"), line::toString));
  }
}
