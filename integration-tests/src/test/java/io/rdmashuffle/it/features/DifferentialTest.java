package io.rdmashuffle.it.features;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static org.junit.jupiter.api.DynamicContainer.dynamicContainer;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import io.rdmashuffle.harness.ExecutorProcess;
import io.rdmashuffle.harness.LocalCluster;
import io.rdmashuffle.it.ExpectedWarnings;
import io.rdmashuffle.it.Feature;
import io.rdmashuffle.it.PluginApp;
import io.rdmashuffle.jobs.ResultDigest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicContainer;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;

/**
 * Random jobs, in random applications, through random faults: each gives what the sort shuffle
 * gives without faults. A job that fails is run again with {@code -Dtest.seed} set to the first
 * seed of its application, which its name tells.
 */
@Tag("slow")
@ExpectedWarnings({
  ExpectedWarnings.LOST_EXECUTOR,
  ExpectedWarnings.BUDGET_SPENT,
  "go by TCP: STALE "
})
class DifferentialTest {
  private static final int JOBS_PER_APPLICATION = 5;
  private static final int APPLICATIONS = Boolean.getBoolean("test.nightly") ? 60 : 4;
  private static final long LIMIT_SECONDS = 120;

  private final Map<Long, ResultDigest> expected = new HashMap<>();
  private LocalCluster cluster;

  @TestFactory
  @Feature("Random jobs equal the sort shuffle's")
  Stream<DynamicNode> randomJobsGiveWhatTheSortShuffleGives() {
    long firstSeed = Long.getLong("test.seed", System.nanoTime());
    int applications = System.getProperty("test.seed") == null ? APPLICATIONS : 1;
    List<List<RandomJob>> all = new ArrayList<>();
    for (int i = 0; i < applications; i++) {
      long seed = firstSeed + (long) i * JOBS_PER_APPLICATION;
      all.add(
          LongStream.range(seed, seed + JOBS_PER_APPLICATION).mapToObj(RandomJob::new).toList());
    }
    return Stream.concat(
        Stream.of(dynamicTest("on the sort shuffle, from seed " + firstSeed, () -> expectAll(all))),
        all.stream().map(this::onPlugin));
  }

  private void expectAll(List<List<RandomJob>> all) {
    System.out.println(all.size() * JOBS_PER_APPLICATION + " jobs from " + all.get(0).get(0));
    Reference.inLocalMode(
        Map.of(),
        local -> {
          all.forEach(jobs -> jobs.forEach(job -> expected.put(job.seed(), job.run(local, false))));
          return expected;
        });
  }

  private DynamicContainer onPlugin(List<RandomJob> jobs) {
    long seed = jobs.get(0).seed();
    Map<String, String> settings = RandomCluster.settings(seed);
    List<DynamicNode> tests = new ArrayList<>();
    tests.add(dynamicTest("starts", () -> cluster = PluginApp.start("random", settings)));
    jobs.forEach(job -> tests.add(dynamicTest(job.toString(), () -> assertSame(job))));
    tests.add(dynamicTest("stops", this::stop));
    return dynamicContainer("application of seed " + seed + ": " + settings, tests);
  }

  private void assertSame(RandomJob job) throws Exception {
    assumeTrue(cluster != null, "no application");
    cluster.awaitExecutors(2);
    CompletableFuture<ResultDigest> result =
        CompletableFuture.supplyAsync(() -> job.run(cluster, true));
    if (job.fault() == RandomJob.Fault.KILL) {
      TimeUnit.MILLISECONDS.sleep(job.killAfterMillis());
      cluster.executors().stream().findFirst().ifPresent(ExecutorProcess::kill);
    }
    assertEquals(
        Optional.empty(),
        result.get(LIMIT_SECONDS, TimeUnit.SECONDS).differenceFrom(expected.get(job.seed())),
        job::toString);
  }

  private void stop() {
    if (cluster != null) {
      cluster.close();
    }
    cluster = null;
  }
}
