package io.rdmashuffle.chaos;

import io.rdmashuffle.harness.AppLogs;
import io.rdmashuffle.harness.ClusterSpec;
import io.rdmashuffle.harness.ExecutorGauges;
import io.rdmashuffle.harness.LocalCluster;
import io.rdmashuffle.harness.LogWarning;
import io.rdmashuffle.harness.PluginTotals;
import io.rdmashuffle.harness.Poll;
import io.rdmashuffle.harness.ProcessCounts;
import io.rdmashuffle.harness.RemoteApp;
import io.rdmashuffle.harness.ShuffleMode;
import io.rdmashuffle.jobs.ResultDigest;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Runs one plan: an application with the plugin in which the plan's job runs again and again until
 * all that is planned has been done to it, at least twice.
 */
public final class ChaosRound {
  private static final int MEMORY_MB = 512;
  private static final int FEWEST_JOBS = 2;
  // A job takes some seconds, and each injection may cost it a few deadlines and retries.
  private static final long JOB_LIMIT_SECONDS = System.getenv("RXE_VM") == null ? 120 : 600;
  private static final long SETTLE_SECONDS = 60;

  private final ChaosPlan plan;
  private final Arena arena;
  private final RemoteApp sortShuffle;
  private final long startNs = System.nanoTime();
  private final List<String> faults = new ArrayList<>();
  private List<String> events = List.of();
  private PluginTotals totals = PluginTotals.ZERO;
  private int jobs;

  ChaosRound(ChaosPlan plan, Arena arena, RemoteApp sortShuffle) {
    this.plan = plan;
    this.arena = arena;
    this.sortShuffle = sortShuffle;
  }

  /** Runs it. */
  RoundReport run() {
    ChaosJob job = plan.job();
    ResultDigest expected =
        sortShuffle.call(ResultDigest.class, cluster -> job.run(cluster.spark()));
    AppLogs.newWarnings();
    try (LocalCluster cluster = LocalCluster.start(spec())) {
      runJobs(cluster, expected);
      if (faults.isEmpty()) {
        ExecutorGauges.awaitNothingLent(cluster);
      }
      // As far as reported: a killed executor never will, so there is nothing to wait for.
      totals = cluster.totals(0);
    } catch (RuntimeException e) {
      faults.add(e.toString());
    }
    lookForLeftovers();
    List<LogWarning> warnings = AppLogs.newWarnings();
    warnings.stream()
        .filter(warning -> warning.line().contains(" ERROR "))
        .forEach(warning -> faults.add("logged: " + warning));
    return new RoundReport(
        plan.seed(),
        describe(),
        events,
        jobs,
        faults,
        (System.nanoTime() - startNs) / 1e9,
        warnings.size(),
        totals);
  }

  private ClusterSpec spec() {
    Map<String, String> settings = new TreeMap<>(plan.settings());
    settings.putAll(ChaosShuffleManager.settings(plan.seed()));
    settings.putAll(plan.rates().asSettings());
    settings.putAll(arena.settings());
    // Executors come back as often as they die, and tasks are tried again as often as it takes.
    settings.put("spark.deploy.maxExecutorRetries", "-1");
    settings.put("spark.task.maxFailures", "100");
    settings.put("spark.stage.maxConsecutiveAttempts", "100");
    settings.put("spark.shuffle.io.maxRetries", "2");
    settings.put("spark.shuffle.io.retryWait", "300ms");
    return ClusterSpec.forTests("chaos", ShuffleMode.PLUGIN)
        .sized(plan.executors(), 1, MEMORY_MB)
        .with(settings);
  }

  private void runJobs(LocalCluster cluster, ResultDigest expected) {
    Timeline timeline = Timeline.start(new Injector(cluster, arena), injections());
    try (timeline) {
      while (faults.isEmpty() && (jobs < FEWEST_JOBS || !timeline.isOver())) {
        runJob(cluster, expected);
      }
    } finally {
      events = timeline.events();
    }
    cluster.awaitExecutors(plan.executors());
  }

  private List<Injection> injections() {
    List<Injection> all = new ArrayList<>(plan.onMachine());
    if (Link.isPresent()) {
      all.addAll(plan.onLink());
      all.sort(Comparator.comparingLong(Injection::afterMs));
    }
    return all;
  }

  private void runJob(LocalCluster cluster, ResultDigest expected) {
    CompletableFuture<ResultDigest> result =
        CompletableFuture.supplyAsync(() -> plan.job().run(cluster.spark()));
    try {
      result
          .get(JOB_LIMIT_SECONDS, TimeUnit.SECONDS)
          .differenceFrom(expected)
          .ifPresentOrElse(difference -> faults.add("wrong result: " + difference), () -> jobs++);
    } catch (TimeoutException e) {
      faults.add("a job had not ended after " + JOB_LIMIT_SECONDS + " s");
    } catch (ExecutionException e) {
      faults.add("a job failed: " + e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      faults.add("interrupted");
    }
  }

  private void lookForLeftovers() {
    long pid = ProcessHandle.current().pid();
    try {
      Poll.until(
          "the driver holds something",
          SETTLE_SECONDS,
          TimeUnit.SECONDS,
          () -> ProcessCounts.of(pid).none());
    } catch (IllegalStateException e) {
      faults.add(e.getMessage() + ": " + ProcessCounts.of(pid));
    }
    List<Path> files = ProcessCounts.slabFilesIn(arena.memory().directory());
    if (!files.isEmpty()) {
      faults.add("files of slabs are left: " + files);
    }
  }

  private String describe() {
    return "%s, %d executors, memory %s in slabs of %s, read timeout %s, failing calls %s"
        .formatted(
            plan.job(),
            plan.executors(),
            plan.settings().get("spark.shuffle.rdma.memory.size"),
            plan.settings().get("spark.shuffle.rdma.memory.slabSize"),
            plan.settings().get("spark.shuffle.rdma.read.timeout"),
            plan.rates());
  }
}
