package io.rdmashuffle.spark.directory;

import io.rdmashuffle.transport.Deadline;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.SparkConf;
import org.apache.spark.rpc.RpcEnv;

/**
 * An executor's view of the driver's directory; works within the driver too.
 *
 * <p>Thread-safe. Methods with a deadline wait no longer than that and may be interrupted; neither
 * ends the request itself, which other tasks may share and which has the {@linkplain
 * ClientSettings#askTimeout() timeout of the settings}. All others return at once.
 *
 * <p>"Not there" and "could not ask" are believed for {@link ClientSettings#negativeTtl()}, per
 * shuffle and per executor, so that thousands of missing blocks ask once. The price is that an
 * output published within that time may be missed by this executor, and be read over TCP.
 *
 * <p>Answers are taken on one daemon thread of the client, which ends when idle.
 */
public final class DirectoryClient implements AutoCloseable {
  private static final long IDLE_SECONDS = 10;

  private final String executorId;
  private final DirectoryChannel channel;
  private final ClientSettings settings;
  private final ThreadPoolExecutor executor;
  private final PeerTable peers;
  private final HeapBudget budget;
  private final Map<Integer, ShuffleLocations> shuffles = new ConcurrentHashMap<>();

  /** The shuffle looked up last, so that most look-ups box no id. */
  private volatile ShuffleLocations recent;

  private final AtomicLong reports = new AtomicLong();
  private volatile boolean closed;

  /**
   * Finds the driver on first use, from {@code spark.driver.host} and {@code spark.driver.port}.
   *
   * @param rpcEnv that of this executor
   * @param executorId this executor's
   */
  public DirectoryClient(
      RpcEnv rpcEnv, SparkConf conf, String executorId, ClientSettings settings) {
    this(new SparkDirectoryChannel(rpcEnv, conf), executorId, settings);
  }

  /**
   * @param channel closed with the client
   */
  DirectoryClient(DirectoryChannel channel, String executorId, ClientSettings settings) {
    this.executorId = executorId;
    this.channel = channel;
    this.settings = settings;
    this.executor = newExecutor();
    this.peers = new PeerTable(channel, settings, executor, executorId);
    this.budget = new HeapBudget(settings.maxLocationBytes());
  }

  private static ThreadPoolExecutor newExecutor() {
    ThreadPoolExecutor executor =
        new ThreadPoolExecutor(
            1,
            1,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            task -> {
              Thread thread = new Thread(task, "rdma-directory");
              thread.setDaemon(true);
              return thread;
            });
    executor.allowCoreThreadTimeOut(true);
    return executor;
  }

  /**
   * Lists this executor with the driver. May be repeated.
   *
   * @throws DirectoryException when the driver refused or did not answer; the executor is then read
   *     over TCP
   */
  public void register(ExecutorRecord self, Deadline deadline)
      throws DirectoryException, InterruptedException {
    acknowledged(Messages.encodeRegister(self), deadline);
  }

  /** Lists slabs that were added after {@link #register}. May be repeated. */
  public void addSlabs(Collection<SlabRecord> slabs, Deadline deadline)
      throws DirectoryException, InterruptedException {
    acknowledged(
        Messages.encodePublish(new Messages.Publication(executorId, List.copyOf(slabs), List.of())),
        deadline);
  }

  /**
   * Publishes an output of this executor. When it returns, every reducer that asks from now on
   * learns of it.
   *
   * @param newSlabs slabs the driver may not know yet; those it knows do no harm
   * @throws DirectoryException when the driver refused or did not answer; after {@link
   *     DirectoryException.Reason#TIMEOUT} the output may be listed nevertheless
   */
  public void publish(OutputRecord output, Collection<SlabRecord> newSlabs, Deadline deadline)
      throws DirectoryException, InterruptedException {
    acknowledged(
        Messages.encodePublish(
            new Messages.Publication(executorId, List.copyOf(newSlabs), List.of(output))),
        deadline);
  }

  private void acknowledged(byte[] request, Deadline deadline)
      throws DirectoryException, InterruptedException {
    checkOpen();
    byte[] answer = Answers.await(channel.ask(request, deadline), deadline);
    Answers.read(
        answer,
        bytes -> {
          Messages.decodeAcknowledged(bytes);
          return null;
        });
  }

  /**
   * Where an output lies, from the cache or the driver.
   *
   * @return null when the driver does not know the output
   * @throws DirectoryException when the driver could not be asked within the deadline
   */
  public Located locate(int shuffleId, long mapTaskId, Deadline deadline)
      throws DirectoryException, InterruptedException {
    Located located = new Located();
    return ensureLocated(shuffleId, new long[] {mapTaskId}, deadline)
            && lookup(shuffleId, mapTaskId, located)
        ? located
        : null;
  }

  /**
   * Sees to it that {@link #lookup} finds the outputs, by asking the driver once if need be.
   * Records of the executors that hold outputs are asked for in passing.
   *
   * @return whether it will find all of them; when not, it may still find some
   * @throws DirectoryException when the driver could not be asked within the deadline; lookup may
   *     still find some
   */
  public boolean ensureLocated(int shuffleId, long[] mapTaskIds, Deadline deadline)
      throws DirectoryException, InterruptedException {
    return ensureLocatedOn(null, shuffleId, mapTaskIds, deadline);
  }

  /**
   * As {@link #ensureLocated}, for outputs that Spark says are on one executor. What the cache has
   * on another one has moved since, as it does when executors are decommissioned, so the driver is
   * asked again.
   */
  public boolean ensureLocatedOn(
      String holderId, int shuffleId, long[] mapTaskIds, Deadline deadline)
      throws DirectoryException, InterruptedException {
    checkOpen();
    return shuffles
        .computeIfAbsent(shuffleId, this::newLocations)
        .ensure(mapTaskIds, holderId, deadline);
  }

  private ShuffleLocations newLocations(int shuffleId) {
    return new ShuffleLocations(
        shuffleId, channel, settings, executor, peers, budget, this::evictOtherThan);
  }

  private boolean evictOtherThan(ShuffleLocations asking) {
    Map.Entry<Integer, ShuffleLocations> eldest = null;
    long nowNs = System.nanoTime();
    for (Map.Entry<Integer, ShuffleLocations> entry : shuffles.entrySet()) {
      if (entry.getValue() != asking
          && (eldest == null
              || nowNs - entry.getValue().lastUsedNs() > nowNs - eldest.getValue().lastUsedNs())) {
        eldest = entry;
      }
    }
    if (eldest == null) {
      return false;
    }
    shuffles.remove(eldest.getKey(), eldest.getValue());
    eldest.getValue().discard();
    return true;
  }

  /**
   * Fills the holder from the cache. Never asks the driver.
   *
   * @return false when the output is not in the cache, or its executor was forgotten; the holder is
   *     then unchanged
   */
  public boolean lookup(int shuffleId, long mapTaskId, Located into) {
    ShuffleLocations locations = recent;
    if (locations == null || locations.shuffleId() != shuffleId || locations.isDiscarded()) {
      locations = shuffles.get(shuffleId);
      if (locations == null) {
        return false;
      }
      recent = locations;
    }
    return locations.lookup(mapTaskId, into);
  }

  /**
   * What the driver knows of an executor, from the cache unless a location named a later version of
   * its slab table.
   *
   * @return null when the driver does not know the executor
   * @throws DirectoryException when the driver could not be asked within the deadline
   */
  public PeerRecord peer(String peerExecutorId, Deadline deadline)
      throws DirectoryException, InterruptedException {
    return peers.get(peerExecutorId, -1, deadline);
  }

  /**
   * As {@link #peer(String, Deadline)}, with a slab that is needed.
   *
   * @return null when the driver does not know the executor or it has no such slab
   */
  public PeerRecord peer(String peerExecutorId, int slabId, Deadline deadline)
      throws DirectoryException, InterruptedException {
    return peers.get(peerExecutorId, slabId, deadline);
  }

  /**
   * Asks which of some shuffles the driver has dropped. Does not block; no more than some thousand
   * are asked about, those with the lowest ids.
   *
   * @return completes on any thread; with a {@link DirectoryException} when the driver did not
   *     answer in time
   */
  public CompletableFuture<List<Integer>> droppedOf(
      SortedSet<Integer> shuffleIds, Deadline deadline) {
    List<Integer> asked = shuffleIds.stream().limit(Bounds.MAX_SHUFFLES_PER_REQUEST).toList();
    return channel
        .ask(Messages.encodeHeld(asked), deadline)
        .thenApply(answer -> Answers.readInStage(answer, Messages::decodeDropped));
  }

  /** Drops what is cached of a shuffle; tasks that wait for it learn that nothing is known. */
  public void forgetShuffle(int shuffleId) {
    ShuffleLocations locations = shuffles.remove(shuffleId);
    if (locations != null) {
      locations.discard();
    }
  }

  /** Drops what is cached of an executor, locations of its outputs included. */
  public void forgetExecutor(String peerExecutorId) {
    peers.forget(peerExecutorId);
  }

  /**
   * Sends this executor's counters to the driver, which keeps the latest; may get lost.
   *
   * @param counters cumulative since the start of this executor
   */
  public void report(Map<String, Long> counters) {
    channel.send(
        Messages.encodeReport(
            new Messages.Report(executorId, reports.incrementAndGet(), counters)));
  }

  /** Estimated bytes of heap that cached locations take. */
  public long usedBytes() {
    return budget.usedBytes();
  }

  private void checkOpen() throws DirectoryException {
    if (closed) {
      throw Answers.closed();
    }
  }

  /** Ends all waits; later calls fail. Idempotent. */
  @Override
  public void close() {
    closed = true;
    channel.close();
    shuffles.values().forEach(ShuffleLocations::close);
    peers.close();
    executor.shutdownNow();
  }
}
