package io.rdmashuffle.spark;

import io.rdmashuffle.spark.directory.Directory;
import io.rdmashuffle.spark.directory.DirectoryEndpoint;
import io.rdmashuffle.spark.directory.DirectoryException;
import io.rdmashuffle.spark.directory.DirectoryLimits;
import java.util.Map;
import org.apache.spark.SparkContext;
import org.apache.spark.rpc.RpcEnv;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The plugin's part in the driver: the directory of executors and map outputs, kept in step with
 * Spark's view of shuffles and executors, and the totals. Safe for use by several threads.
 */
public final class DriverRuntime implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(DriverRuntime.class);

  private final Directory directory = new Directory(DirectoryLimits.defaults());
  private final DirectoryEndpoint endpoint;
  private boolean isListening;

  private DriverRuntime(RpcEnv rpcEnv) {
    endpoint = DirectoryEndpoint.start(rpcEnv, directory);
  }

  /** Opens the directory to executors. */
  public static DriverRuntime start(RpcEnv rpcEnv) {
    return new DriverRuntime(rpcEnv);
  }

  /**
   * A shuffle begins; publications to it are accepted from now on.
   *
   * @param context tells when executors go
   */
  public void registerShuffle(int shuffleId, SparkContext context) {
    listenTo(context);
    try {
      directory.registerShuffle(shuffleId);
    } catch (DirectoryException e) {
      LOG.warn("shuffle {} will be read over TCP: {}", shuffleId, e.getMessage());
    }
  }

  /** There is no context yet when Spark creates the manager. */
  private synchronized void listenTo(SparkContext context) {
    if (isListening) {
      return;
    }
    isListening = true;
    context.addSparkListener(
        new SparkListener() {
          @Override
          public void onExecutorRemoved(SparkListenerExecutorRemoved removed) {
            directory.removeExecutor(removed.executorId());
          }
        });
  }

  /** A shuffle is gone. */
  public void dropShuffle(int shuffleId) {
    directory.dropShuffle(shuffleId);
  }

  /** Sums of what the executors reported, lost ones included. */
  public Map<String, Long> totals() {
    return directory.totals();
  }

  @Override
  public void close() {
    endpoint.close();
  }
}
