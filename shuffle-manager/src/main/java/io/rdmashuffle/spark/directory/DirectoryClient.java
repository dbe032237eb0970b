package io.rdmashuffle.spark.directory;

import io.rdmashuffle.transport.Deadline;
import java.util.Collection;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.rpc.RpcEnv;

/** An executor's view of the driver's directory. */
public final class DirectoryClient implements AutoCloseable {
  /** Finds the driver lazily, from {@code spark.driver.host} and {@code spark.driver.port}. */
  public DirectoryClient(
      RpcEnv rpcEnv, SparkConf conf, String executorId, ClientSettings settings) {
    throw new UnsupportedOperationException();
  }

  /** Lists this executor with the driver; may be repeated. */
  public void register(ExecutorRecord executor, Deadline deadline)
      throws DirectoryException, InterruptedException {
    throw new UnsupportedOperationException();
  }

  /** Lists slabs added since. */
  public void addSlabs(Collection<SlabRecord> slabs, Deadline deadline)
      throws DirectoryException, InterruptedException {
    throw new UnsupportedOperationException();
  }

  /** Publishes one output, with slabs the driver may not know yet; returns when acknowledged. */
  public void publish(OutputRecord output, Collection<SlabRecord> newSlabs, Deadline deadline)
      throws DirectoryException, InterruptedException {
    throw new UnsupportedOperationException();
  }

  /** Where an output lies, or null when the driver does not know. */
  public Located locate(int shuffleId, long mapTaskId, Deadline deadline)
      throws DirectoryException, InterruptedException {
    throw new UnsupportedOperationException();
  }

  /** Whether all outputs are located, after asking the driver if need be. */
  public boolean ensureLocated(int shuffleId, long[] mapTaskIds, Deadline deadline)
      throws DirectoryException, InterruptedException {
    throw new UnsupportedOperationException();
  }

  /** Fills the holder from the cache; false when the output is not there. Never asks. */
  public boolean lookup(int shuffleId, long mapTaskId, Located into) {
    throw new UnsupportedOperationException();
  }

  /** What the driver knows of an executor, or null when it knows none; never an outdated table. */
  public PeerRecord peer(String executorId, Deadline deadline)
      throws DirectoryException, InterruptedException {
    throw new UnsupportedOperationException();
  }

  /** As {@link #peer(String, Deadline)}, and asks again when the slab is missing there. */
  public PeerRecord peer(String executorId, int slabId, Deadline deadline)
      throws DirectoryException, InterruptedException {
    throw new UnsupportedOperationException();
  }

  /** Drops what is cached of a shuffle. */
  public void forgetShuffle(int shuffleId) {
    throw new UnsupportedOperationException();
  }

  /** Drops what is cached of an executor, its outputs included. */
  public void forgetExecutor(String executorId) {
    throw new UnsupportedOperationException();
  }

  /** Sends this executor's cumulative counters; may get lost. */
  public void report(Map<String, Long> counters) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void close() {}
}
