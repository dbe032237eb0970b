package io.rdmashuffle.harness;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;

/**
 * An application on {@code local-cluster} in this JVM: real executor processes on one host.
 *
 * <p>The plugin is given to it as a user would: its class name and its jar, nothing else. The jar
 * goes with the application where that line of Spark can do so, else it is named as one that every
 * host has.
 */
public final class LocalCluster implements AutoCloseable {
  /** The one setting users make. */
  public static final String PLUGIN_CLASS = "io.rdmashuffle.RdmaShuffleManager";

  // In an emulated machine each step of a start takes ten times as long.
  private static final long START_SECONDS = System.getenv("RXE_VM") == null ? 120 : 600;
  private static final long SETTLE_NANOS = TimeUnit.SECONDS.toNanos(20);

  private final ClusterSpec spec;
  private final SparkSession session;
  private final MetricsListener listener = new MetricsListener();

  private LocalCluster(ClusterSpec spec, SparkSession session) {
    this.spec = spec;
    this.session = session;
    session.sparkContext().addSparkListener(listener);
  }

  /** Starts the application and waits until every executor has registered. */
  public static LocalCluster start(ClusterSpec spec) {
    AppLogs.watchDriver(HarnessPaths.driverLog());
    SparkSession session = SparkSession.builder().config(conf(spec)).getOrCreate();
    LocalCluster cluster = new LocalCluster(spec, session);
    AppLogs.watchExecutors(cluster.executorLogs());
    try {
      cluster.awaitExecutors(spec.executors());
    } catch (RuntimeException e) {
      cluster.close();
      throw e;
    }
    return cluster;
  }

  private static SparkConf conf(ClusterSpec spec) {
    Path sparkHome = HarnessPaths.sparkHome();
    List<Path> jars = new ArrayList<>(HarnessPaths.userJars());
    SparkConf conf = new SparkConf();
    if (spec.mode() == ShuffleMode.PLUGIN) {
      conf.set("spark.shuffle.manager", PLUGIN_CLASS);
      jars.add(HarnessPaths.pluginJar());
    }
    if (spec.mode() == ShuffleMode.PLUGIN && !SparkLine.current().loadsManagerFromUserJars()) {
      // All of them, so that one class loader has both the plugin and what looks into it.
      conf.set("spark.executor.extraClassPath", joined(jars, File.pathSeparator));
      jars.clear();
    }
    conf.setAppName(spec.name())
        .setMaster(
            "local-cluster[%d,%d,%d]".formatted(spec.executors(), spec.cores(), spec.memoryMb()))
        .set("spark.executor.memory", spec.memoryMb() + "m")
        .set("spark.ui.enabled", "false")
        .set("spark.jars", joined(jars, ","))
        // Local reads of the other executor's files would leave nothing to measure.
        .set("spark.shuffle.readHostLocalDisk", "false")
        .set("spark.local.dir", localDir(spec.name()).toString())
        .set("spark.sql.warehouse.dir", HarnessPaths.workDir().resolve("warehouse").toString())
        .set(
            "spark.executor.defaultJavaOptions",
            "-Dlog4j2.configurationFile=" + HarnessPaths.executorLogConfiguration());
    if (spec.fastStart()) {
      conf.set("spark.executor.extraJavaOptions", FastStart.executorOptions(sparkHome));
    }
    spec.conf().forEach(conf::set);
    return conf;
  }

  private static String joined(List<Path> jars, String separator) {
    return jars.stream().map(Path::toString).collect(Collectors.joining(separator));
  }

  private static Path localDir(String name) {
    Path dir = HarnessPaths.workDir().resolve("local").resolve(name);
    try {
      return Files.createDirectories(dir);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot create " + dir, e);
    }
  }

  /** Waits until that many executors have registered with the scheduler. */
  public void awaitExecutors(int count) {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS);
    while (registered() < count) {
      if (System.nanoTime() > deadline) {
        throw new IllegalStateException(
            "%d of %d executors registered within %d s; their logs are in %s; there: %s"
                .formatted(
                    registered(),
                    count,
                    START_SECONDS,
                    executorLogs(),
                    AppLogs.errors(executorLogs())));
      }
      pause();
    }
  }

  private int registered() {
    // The driver's own block manager is in the map, too.
    return context().getExecutorMemoryStatus().size() - 1;
  }

  /** Stops it and waits for its executors' end; afterwards this JVM can start another. */
  @Override
  public void close() {
    List<ExecutorProcess> running = executors();
    session.stop();
    SparkSession.clearActiveSession();
    SparkSession.clearDefaultSession();
    running.forEach(ExecutorProcess::awaitEnd);
  }

  /** What it was started with. */
  public ClusterSpec spec() {
    return spec;
  }

  /** Spark's session. */
  public SparkSession spark() {
    return session;
  }

  /** Spark's context. */
  public SparkContext context() {
    return session.sparkContext();
  }

  /** Spark's context for Java. */
  public JavaSparkContext java() {
    return JavaSparkContext.fromSparkContext(session.sparkContext());
  }

  /** Metrics of all tasks that have ended. */
  public ShuffleMetrics metrics() {
    try {
      context().listenerBus().waitUntilEmpty();
    } catch (TimeoutException e) {
      throw new IllegalStateException("Spark's listener bus did not drain", e);
    }
    return listener.sum();
  }

  /** Tasks that have ended, without waiting for events under way. */
  long tasksEnded() {
    return listener.sum().tasks();
  }

  /**
   * The plugin's totals once they have caught up with the tasks, or as they are when they do not:
   * executors report them shortly after a task has ended.
   */
  public PluginTotals totals() {
    return totals(metrics().remoteBytes());
  }

  /** The same for a caller that has fetched more than Spark knows of. */
  public PluginTotals totals(long expected) {
    long deadline = System.nanoTime() + SETTLE_NANOS;
    PluginTotals totals = TotalsReader.read(context());
    while (totals.allBytes() < expected && System.nanoTime() < deadline) {
      pause();
      totals = TotalsReader.read(context());
    }
    return totals;
  }

  /** The executor processes that run now. */
  public List<ExecutorProcess> executors() {
    return ExecutorProcess.ofThisDriver();
  }

  /** Where executors write their logs. */
  public Path executorLogs() {
    return HarnessPaths.sparkHome().resolve("work").resolve(context().applicationId());
  }

  private static void pause() {
    try {
      Thread.sleep(50);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting for Spark", e);
    }
  }
}
