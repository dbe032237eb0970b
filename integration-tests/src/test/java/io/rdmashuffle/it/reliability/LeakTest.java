package io.rdmashuffle.it.reliability;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.harness.ExecutorGauges;
import io.rdmashuffle.harness.LocalCluster;
import io.rdmashuffle.harness.OnEachExecutor;
import io.rdmashuffle.it.PluginApp;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.management.JMException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/**
 * One application after a thousand jobs holds what it held after the first hundred: the driver and
 * each executor, whether jobs end well, fail while they read, or fail while they write.
 */
@Tag("slow")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class LeakTest {
  private static final int WARM_UP = 150;
  private static final int JOBS = Boolean.getBoolean("test.nightly") ? 10_000 : 1_000;
  private static final int JOBS_PER_COLLECTION = 50;
  private static final int THREADS = 2;

  // Objects that come and go with requests, caches and timers; a leak would be of hundreds.
  private static final long FEW = 64;
  // Spark itself remembers the last jobs, stages and tasks; a leak of blocks would be far more.
  private static final long HEAP_SLACK = 16 << 20;
  private static final int DESCRIPTOR_SLACK = 16;
  private static final long QUARANTINE_SECONDS = 2;

  private static LocalCluster cluster;
  private static Map<String, Holdings> before;
  private static Map<String, Holdings> after;

  @BeforeAll
  static void runAllJobs() throws Exception {
    cluster = PluginApp.start("leaks", settings());
    runJobs(WARM_UP);
    before = settled();
    long start = System.nanoTime();
    int failed = runJobs(JOBS);
    System.out.printf(
        "%d jobs, %d of them failed as they should, in %d s%n",
        JOBS, failed, TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start));
    after = settled();
  }

  private static Map<String, String> settings() {
    Map<String, String> settings = new TreeMap<>();
    settings.put("spark.shuffle.rdma.memory.slabSize", "4m");
    settings.put("spark.shuffle.rdma.memory.size", "128m");
    settings.put("spark.shuffle.rdma.memory.receiveSize", "16m");
    settings.put("spark.shuffle.rdma.read.timeout", "1s");
    settings.put("spark.shuffle.rdma.memory.quarantine", QUARANTINE_SECONDS + "s");
    settings.put("spark.task.maxFailures", "1");
    // What Spark remembers of the past must be full before the first look, too.
    for (String what : List.of("Jobs", "Stages", "DeadExecutors")) {
      settings.put("spark.ui.retained" + what, "10");
    }
    settings.put("spark.ui.retainedTasks", "100");
    settings.put("spark.sql.ui.retainedExecutions", "10");
    return settings;
  }

  @AfterAll
  static void stop() {
    cluster.close();
  }

  /** The number of jobs that failed, which is fixed. */
  private static int runJobs(int count) throws Exception {
    AtomicInteger next = new AtomicInteger();
    AtomicInteger failed = new AtomicInteger();
    ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    try {
      List<Future<?>> ends = new ArrayList<>();
      for (int thread = 0; thread < THREADS; thread++) {
        ends.add(
            threads.submit(
                () -> {
                  for (int i = next.getAndIncrement(); i < count; i = next.getAndIncrement()) {
                    failed.addAndGet(SmallJob.of(i).run(cluster) ? 0 : 1);
                    if (i % JOBS_PER_COLLECTION == 0) {
                      System.gc(); // Spark unregisters shuffles when their RDDs are collected
                    }
                  }
                }));
      }
      for (Future<?> end : ends) {
        end.get();
      }
    } finally {
      threads.shutdown();
    }
    return failed.get();
  }

  /** Holdings by executor id, and of the driver, once all shuffles have been unregistered. */
  private static Map<String, Holdings> settled() throws JMException, InterruptedException {
    ExecutorGauges.awaitNothingLent(cluster);
    TimeUnit.SECONDS.sleep(QUARANTINE_SECONDS);
    SmallJob.REPARTITION.run(cluster); // whose outputs, when freed, end the quarantine of the rest
    ExecutorGauges.awaitNothingLent(cluster);
    Map<String, Holdings> all = new TreeMap<>(OnEachExecutor.run(cluster, Holdings::here));
    all.put("driver", Holdings.here());
    return all;
  }

  @Test
  @Order(1)
  void executorsLastedAsLongAsTheApplication() {
    assertEquals(before.keySet(), after.keySet());
    assertEquals(3, after.size(), after.keySet()::toString);
  }

  @Test
  @Order(2)
  void slabsRegistrationsAndConnectionsAreAsBefore() {
    after.forEach(
        (who, holdings) ->
            List.of(
                    "slabs",
                    "slabBytes",
                    "receiveSlabBytes",
                    "mappedRegions",
                    "shm.slabs",
                    "shm.connections")
                .forEach(gauge -> assertSameGauge(who, gauge)));
  }

  private static void assertSameGauge(String who, String gauge) {
    assertEquals(
        before.get(who).gauges().get(gauge),
        after.get(who).gauges().get(gauge),
        () -> gauge + " of " + who);
  }

  @Test
  @Order(3)
  void mappingsDescriptorsAndThreadsAreAsBefore() {
    after.forEach(
        (who, holdings) ->
            assertAll(
                who,
                () ->
                    assertEquals(
                        before.get(who).process().mappings().size(),
                        holdings.process().mappings().size(),
                        "mappings of slabs"),
                () ->
                    assertEquals(
                        before.get(who).process().descriptors().size(),
                        holdings.process().descriptors().size(),
                        "descriptors of slabs"),
                () ->
                    assertTrue(
                        holdings.process().allDescriptors()
                            <= before.get(who).process().allDescriptors() + DESCRIPTOR_SLACK,
                        () -> "descriptors: " + holdings.process()),
                () ->
                    assertTrue(
                        holdings.process().threads().size() <= maxThreads(before.get(who)),
                        () -> before.get(who).process() + " -> " + holdings.process())));
  }

  /** Threads that end when idle may be away at the first look. */
  private static int maxThreads(Holdings earlier) {
    return earlier.process().threads().size() + 2;
  }

  @Test
  @Order(4)
  void theHeapIsAsBeforeAndHoldsNoMoreOfOurObjects() {
    after.forEach(
        (who, holdings) -> {
          System.out.printf(
              "%s: heap %d KiB -> %d KiB, %s%n",
              who,
              before.get(who).heapBytes() >> 10,
              holdings.heapBytes() >> 10,
              holdings.gauges());
          assertEquals(Map.of(), holdings.grownSince(before.get(who), FEW), who);
          assertTrue(
              holdings.heapBytes() <= before.get(who).heapBytes() + HEAP_SLACK,
              () -> who + ": " + before.get(who).heapBytes() + " -> " + holdings.heapBytes());
        });
  }
}
