package io.rdmashuffle.it.reliability;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.harness.ClusterSpec;
import io.rdmashuffle.harness.Command;
import io.rdmashuffle.harness.ExecutorProcess;
import io.rdmashuffle.harness.Gate;
import io.rdmashuffle.harness.Poll;
import io.rdmashuffle.harness.RemoteApp;
import io.rdmashuffle.harness.ShuffleMode;
import io.rdmashuffle.it.ExpectedWarnings;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;

/**
 * Freezes the driver, the executor that serves, and the one that reads, at each step of a block's
 * way. While it is frozen, everyone else gets on within the deadlines; afterwards the job is right.
 */
@Tag("slow")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class FrozenPartyTest {
  private static final int EXECUTORS = 2;
  private static final int FROZEN = 0;
  private static final int ACTIVE = 1;

  // Every deadline of ours is a second; this is for a loaded machine to get there. Nobody is
  // thawed before, so that whoever waits for the frozen one exceeds it.
  private static final long BOUND_SECONDS = 20;
  private static final long JOB_SECONDS = 120;

  @TempDir static Path gates;

  private static RemoteApp app;
  private static Map<Integer, Long> pids;

  @BeforeAll
  static void start() {
    ClusterSpec spec = ClusterSpec.forTests("frozen", ShuffleMode.PLUGIN);
    for (String deadline : List.of("locate", "publish", "connect", "read", "stop")) {
      spec = spec.with("spark.shuffle.rdma." + deadline + ".timeout", "1s");
    }
    // Small requests, so that much is still to be read when the first record is.
    app =
        RemoteApp.start(
            spec.with("spark.shuffle.rdma.memory.quarantine", "2s")
                .with("spark.reducer.maxSizeInFlight", "16k"));
    pids = executorPids();
  }

  private static Map<Integer, Long> executorPids() {
    @SuppressWarnings("unchecked")
    Map<Integer, Long> found =
        app.call(
            HashMap.class,
            cluster -> {
              HashMap<Integer, Long> byId = new HashMap<>();
              for (ExecutorProcess executor : cluster.executors()) {
                byId.put(Integer.parseInt(executor.id()), executor.pid());
              }
              return byId;
            });
    return found;
  }

  @AfterAll
  static void close() {
    app.close();
  }

  @Test
  @Order(1)
  void anExecutorConnectsToAFrozenOne(TestInfo test) throws Exception {
    // The first shuffle of the application: no connection was made before.
    whileFrozen(test, GatedJob.Step.LOCATE, pids.get(FROZEN), List.of(ACTIVE));
  }

  @Test
  @Order(2)
  void anExecutorReadsFromAFrozenOne(TestInfo test) throws Exception {
    whileFrozen(test, GatedJob.Step.READ, pids.get(FROZEN), List.of(ACTIVE));
  }

  @Test
  @Order(3)
  void anExecutorThatIsFrozenBeforeItPublishesHoldsUpNobody(TestInfo test) throws Exception {
    whileFrozen(test, GatedJob.Step.PUBLISH, pids.get(FROZEN), List.of(ACTIVE));
  }

  @Test
  @Order(4)
  @ExpectedWarnings({
    "map output \\d+ of shuffle \\d+ is not published .* within the deadline",
    "go by TCP: LOCATION_UNKNOWN "
  })
  void mapTasksEndThoughTheDriverIsFrozen(TestInfo test) throws Exception {
    whileFrozen(test, GatedJob.Step.PUBLISH, app.driverPid(), List.of(FROZEN, ACTIVE));
  }

  @Test
  @Order(5)
  @ExpectedWarnings("go by TCP: LOCATION_UNKNOWN ")
  void readersEndThoughTheDriverIsFrozenBeforeTheyAskIt(TestInfo test) throws Exception {
    whileFrozen(test, GatedJob.Step.LOCATE, app.driverPid(), List.of(FROZEN, ACTIVE));
  }

  @Test
  @Order(6)
  void readersEndThoughTheDriverIsFrozenAmidTheirReads(TestInfo test) throws Exception {
    whileFrozen(test, GatedJob.Step.READ, app.driverPid(), List.of(FROZEN, ACTIVE));
  }

  @Test
  @Order(7)
  void whatWasFrozenIsReadOneSidedAgain() {
    long tcpBefore = tcpBytes();
    Gate open = new Gate(gates.resolve("open"));
    open.open();
    assertEquals(
        GatedJob.expected(), app.call(Long.class, new GatedJob(GatedJob.Step.LOCATE, open)::run));
    assertEquals(tcpBefore, tcpBytes());
  }

  private static long tcpBytes() {
    return app.call(Long.class, cluster -> cluster.totals().bytes("tcp"));
  }

  @Test
  @Order(8)
  void anExecutorStopsInTimeThoughDriverAndPeerAreFrozen(TestInfo test) throws Exception {
    Gate gate = new Gate(gates.resolve(test.getDisplayName()));
    CompletableFuture<Long> stops =
        CompletableFuture.supplyAsync(() -> app.call(Long.class, new GatedStop(gate)::run));
    gate.awaitArrivals(EXECUTORS);
    signal("STOP", pids.get(FROZEN));
    signal("STOP", app.driverPid());
    try {
      gate.open();
      awaitLeft(gate, List.of(ACTIVE));
    } finally {
      signal("CONT", app.driverPid());
      signal("CONT", pids.get(FROZEN));
    }
    assertEquals(EXECUTORS, stops.get(JOB_SECONDS, TimeUnit.SECONDS).longValue());
  }

  @Test
  @Order(9)
  void theApplicationStopsThoughAnExecutorIsFrozen() {
    signal("STOP", pids.get(FROZEN));
    assertTrue(app.stop().none());
    assertFalse(ProcessHandle.of(pids.get(FROZEN)).map(ProcessHandle::isAlive).orElse(false));
  }

  /** Freezes a process when all tasks are at the gate; thaws it when the others are through. */
  private static void whileFrozen(TestInfo test, GatedJob.Step step, long pid, List<Integer> others)
      throws Exception {
    Gate gate = new Gate(gates.resolve(test.getDisplayName()));
    GatedJob job = new GatedJob(step, gate);
    CompletableFuture<Long> result =
        CompletableFuture.supplyAsync(() -> app.call(Long.class, job::run));
    gate.awaitArrivals(EXECUTORS);
    signal("STOP", pid);
    try {
      gate.open();
      awaitLeft(gate, others);
    } finally {
      signal("CONT", pid);
    }
    assertEquals(GatedJob.expected(), result.get(JOB_SECONDS, TimeUnit.SECONDS));
  }

  private static void awaitLeft(Gate gate, List<Integer> executors) {
    Poll.until(
        "executors " + executors + " wait for the frozen process",
        BOUND_SECONDS,
        TimeUnit.SECONDS,
        () -> executors.stream().allMatch(gate::hasLeft));
  }

  private static void signal(String name, long pid) {
    Command.run("kill", "-" + name, Long.toString(pid));
  }
}
