package io.rdmashuffle;

import io.rdmashuffle.spark.DriverRuntime;
import io.rdmashuffle.spark.ExecutorRuntime;
import io.rdmashuffle.spark.RuntimeWrappers;
import io.rdmashuffle.spark.SparkSettings;
import io.rdmashuffle.spark.read.RdmaShuffleReader;
import io.rdmashuffle.spark.resolve.MemoryOutputs;
import io.rdmashuffle.spark.resolve.Resolvers;
import java.util.Map;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.shuffle.BaseShuffleHandle;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.apache.spark.shuffle.ShuffleHandle;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.shuffle.ShuffleReader;
import org.apache.spark.shuffle.ShuffleWriteMetricsReporter;
import org.apache.spark.shuffle.ShuffleWriter;
import org.apache.spark.shuffle.sort.SortShuffleManager;
import org.apache.spark.util.TaskCompletionListener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The shuffle manager to name in {@code spark.shuffle.manager}.
 *
 * <p>Map outputs are written into registered memory, and reduce tasks read them one-sided, or over
 * Spark's TCP service where that cannot be. It extends Spark's sort shuffle manager because Spark
 * SQL copies every row before a shuffle for any other class, and because handles, file outputs,
 * migration and corruption diagnosis stay Spark's.
 *
 * <p>In local mode, where no block ever crosses a process, everything is left to the sort shuffle.
 */
public class RdmaShuffleManager extends SortShuffleManager {
  private static final Logger LOG = LoggerFactory.getLogger(RdmaShuffleManager.class);

  private final boolean isDriver;
  private final boolean isDelegating;
  private final IndexShuffleBlockResolver resolver;

  // Made on first need, since early in the start of a process there is no SparkEnv. Written under
  // this, which is held while a runtime starts or stops; threads of Spark's RPC and Netty, which
  // must not wait for that, read without it.
  private volatile DriverRuntime driverRuntime;
  private volatile ExecutorRuntime executorRuntime;
  private boolean isStopped; // guarded by this

  /**
   * Called by Spark.
   *
   * @throws IllegalArgumentException when a setting is unknown, malformed or contradictory; the
   *     application does not start
   */
  public RdmaShuffleManager(SparkConf conf, boolean isDriver) {
    super(SparkSettings.prepare(conf, isDriver));
    this.isDriver = isDriver;
    isDelegating = SparkSettings.isLocalMode(conf);
    resolver = Resolvers.create(conf, super.shuffleBlockResolver(), this::outputsOrNull);
    if (isDelegating) {
      LOG.warn(
          "spark.master={}: tasks share one process and fetch nothing, so the sort shuffle does the"
              + " work",
          conf.get("spark.master"));
    } else if (SparkEnv.get() != null) {
      startNow();
    }
  }

  /** From Spark 4 on there is a SparkEnv by now: memory is registered before the first task. */
  private void startNow() {
    if (isDriver) {
      driverRuntime();
    } else if (SparkEnv.get().blockManager().blockManagerId() != null) {
      try {
        runtime();
      } catch (IllegalArgumentException e) {
        // To fail here would only have Spark start one executor after the other. Each task that
        // needs the runtime fails with the same words instead, and with it the job.
        LOG.error("This executor writes and reads no shuffle: {}", e.getMessage());
      }
    }
  }

  private synchronized DriverRuntime driverRuntime() {
    if (driverRuntime == null) {
      driverRuntime = DriverRuntime.start(SparkEnv.get().rpcEnv());
    }
    return driverRuntime;
  }

  /** What runs in this executor; null where everything is left to the sort shuffle. */
  public synchronized ExecutorRuntime runtime() {
    if (executorRuntime == null && !isDelegating && !isDriver && !isStopped) {
      executorRuntime =
          ExecutorRuntime.start(SparkEnv.get(), super.shuffleBlockResolver(), wrappers());
    }
    return executorRuntime;
  }

  /** What a subclass puts around slabs and transports of this executor; asked for at most once. */
  protected RuntimeWrappers wrappers() {
    return RuntimeWrappers.NONE;
  }

  private MemoryOutputs outputsOrNull() {
    ExecutorRuntime executor = executorRuntime;
    return executor == null ? null : executor.outputs();
  }

  /** What the executors reported so far; on the driver. */
  ShuffleTotals totals() {
    return new ShuffleTotals(isDelegating ? Map.of() : driverRuntime().totals());
  }

  @Override
  public <K, V, C> ShuffleHandle registerShuffle(
      int shuffleId, ShuffleDependency<K, V, C> dependency) {
    if (!isDelegating) {
      driverRuntime().registerShuffle(shuffleId, dependency.rdd().context());
    }
    return super.registerShuffle(shuffleId, dependency);
  }

  @Override
  public <K, V> ShuffleWriter<K, V> getWriter(
      ShuffleHandle handle, long mapId, TaskContext context, ShuffleWriteMetricsReporter metrics) {
    ExecutorRuntime runtime = runtime();
    return runtime == null
        ? super.getWriter(handle, mapId, context, metrics)
        : runtime.writers().create(handle, mapId, context, metrics);
  }

  @Override
  @SuppressWarnings("unchecked")
  public <K, C> ShuffleReader<K, C> getReader(
      ShuffleHandle handle,
      int startMapIndex,
      int endMapIndex,
      int startPartition,
      int endPartition,
      TaskContext context,
      ShuffleReadMetricsReporter metrics) {
    ShuffleDependency<K, ?, C> dependency =
        (ShuffleDependency<K, ?, C>) ((BaseShuffleHandle<?, ?, ?>) handle).dependency();
    ExecutorRuntime runtime = runtime();
    if (runtime == null || dependency.isShuffleMergeFinalizedMarked()) {
      return super.getReader(
          handle, startMapIndex, endMapIndex, startPartition, endPartition, context, metrics);
    }
    runtime.beginRead(handle.shuffleId());
    context.addTaskCompletionListener(
        (TaskCompletionListener) ended -> runtime.endRead(handle.shuffleId()));
    return new RdmaShuffleReader<>(
        dependency,
        SparkEnv.get()
            .mapOutputTracker()
            .getMapSizesByExecutorId(
                handle.shuffleId(), startMapIndex, endMapIndex, startPartition, endPartition),
        context,
        metrics,
        runtime.client(),
        canUseBatchFetch(startPartition, endPartition, context));
  }

  @Override
  public boolean unregisterShuffle(int shuffleId) {
    boolean isDone = super.unregisterShuffle(shuffleId);
    ExecutorRuntime executor = executorRuntime;
    if (executor != null) {
      executor.removeShuffle(shuffleId);
    }
    DriverRuntime driver = driverRuntime;
    if (driver != null) {
      driver.dropShuffle(shuffleId);
    }
    return isDone;
  }

  @Override
  public IndexShuffleBlockResolver shuffleBlockResolver() {
    // Spark's constructor may ask before ours has run.
    return resolver == null || isDelegating ? super.shuffleBlockResolver() : resolver;
  }

  @Override
  public void stop() {
    super.stop();
    synchronized (this) {
      isStopped = true;
      if (executorRuntime != null) {
        executorRuntime.close();
      }
      if (driverRuntime != null) {
        LOG.info("{}", totals());
        driverRuntime.close();
      }
    }
  }
}
