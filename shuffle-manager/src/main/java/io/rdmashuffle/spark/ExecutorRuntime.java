package io.rdmashuffle.spark;

import io.rdmashuffle.conf.BlockStoreConfig;
import io.rdmashuffle.conf.RdmaShuffleConf;
import io.rdmashuffle.spark.directory.ClientSettings;
import io.rdmashuffle.spark.directory.DirectoryClient;
import io.rdmashuffle.spark.read.OneSidedBlockStoreClient;
import io.rdmashuffle.spark.read.ReadServices;
import io.rdmashuffle.store.BlockStore;
import io.rdmashuffle.store.ChecksumAlgorithm;
import io.rdmashuffle.store.IndexBlockCache;
import io.rdmashuffle.store.MapOutput;
import io.rdmashuffle.store.ReceivePool;
import io.rdmashuffle.store.SlabPool;
import io.rdmashuffle.transport.Access;
import io.rdmashuffle.transport.Deadline;
import io.rdmashuffle.transport.PeerIdentity;
import io.rdmashuffle.transport.SlabFactories;
import io.rdmashuffle.transport.SlabFactory;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Everything the plugin runs in one executor: slabs and the block store in them, transports, the
 * client of the driver's directory, and the client that fetches blocks. Made once, closed once;
 * {@link #close()} leaves no thread, mapping, descriptor or device object behind.
 */
public final class ExecutorRuntime implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ExecutorRuntime.class);

  private final RdmaShuffleConf conf;
  private final String executorId;
  private final ChecksumAlgorithm checksumAlgorithm;
  private final boolean keepsOutputsInMemory;

  private final Transports transports;
  private final BlockStore store;
  private final ReceivePool receivePool;
  private final IndexBlockCache indexCache;
  private final DirectoryClient directory;
  private final Publisher publisher;
  private final RuntimeThreads threads;
  private final ReadAccounting accounting = new ReadAccounting();
  private final OneSidedBlockStoreClient client;

  private final LongAdder outputsBeyondBudget = new LongAdder();
  private final AtomicBoolean isClosed = new AtomicBoolean();

  private ExecutorRuntime(SparkEnv env, RdmaShuffleConf conf) {
    this.conf = conf;
    executorId = env.executorId();
    SparkConf sparkConf = env.conf();
    checksumAlgorithm = checksumAlgorithm(sparkConf);
    PeerIdentity self = new PeerIdentity(sparkConf.getAppId(), executorId, newToken());
    BlockStoreConfig storeConfig = conf.blockStore();
    SlabFactory slabs = SlabFactories.open(storeConfig.memoryDir(), self);
    String host = env.blockManager().blockManagerId().host();
    transports = Transports.open(self, host, slabs, conf, sparkConf);
    long budget = SparkSettings.requiresFiles(sparkConf) ? 0 : budgetBytes(storeConfig);
    keepsOutputsInMemory = budget > 0;
    int slabLength = (int) storeConfig.slabSizeBytes();
    store =
        new BlockStore(
            new SlabPool(
                "map outputs",
                slabs,
                transports.available(),
                Access.REMOTE_READ,
                budget,
                slabLength,
                Duration.ofNanos(storeConfig.quarantineNs())));
    receivePool =
        new ReceivePool(
            new SlabPool(
                "receive buffers",
                slabs,
                transports.available(),
                Access.LOCAL_WRITE,
                storeConfig.receiveSizeBytes(),
                slabLength,
                Duration.ZERO));
    indexCache = new IndexBlockCache(conf.shuffle().indexCacheSizeBytes());
    directory =
        new DirectoryClient(
            env.rpcEnv(),
            sparkConf,
            executorId,
            ClientSettings.withTimeout(Duration.ofNanos(conf.shuffle().locateTimeoutNs())));
    publisher =
        new Publisher(directory, store.pool(), Duration.ofNanos(conf.shuffle().publishTimeoutNs()));
    threads = new RuntimeThreads(receivePool);
    client =
        new OneSidedBlockStoreClient(
            env.blockManager().blockStoreClient(),
            new ReadServices(
                sparkConf.getAppId(),
                transports.available(),
                transports.whyNone(),
                transports.whyNoneDetail(),
                directory,
                receivePool,
                indexCache,
                accounting,
                threads.continuations(),
                conf.shuffle(),
                conf.transport()),
            threads.fallbacks());
    publisher.register(self, host, transports.endpoints());
  }

  /** Starts the plugin in the executor of {@code env}, whose block manager is initialized. */
  public static ExecutorRuntime start(SparkEnv env) {
    ExecutorRuntime runtime =
        new ExecutorRuntime(env, RdmaShuffleConf.from(SparkSettings.asMap(env.conf())));
    LOG.info("executor {} reads over {}", runtime.executorId, runtime.transports);
    return runtime;
  }

  private static byte[] newToken() {
    byte[] token = new byte[PeerIdentity.TOKEN_LENGTH];
    new SecureRandom().nextBytes(token);
    return token;
  }

  private long budgetBytes(BlockStoreConfig storeConfig) {
    if (storeConfig.memorySizeBytes().isPresent()) {
      return storeConfig.memorySizeBytes().getAsLong();
    }
    MemoryBudget budget =
        MemoryBudget.automatic(
            MemoryBudget.Room.ofThisMachine(storeConfig.memoryDir()),
            Runtime.getRuntime().maxMemory(),
            storeConfig.receiveSizeBytes(),
            storeConfig.slabSizeBytes());
    LOG.info(
        "spark.shuffle.rdma.memory.size=auto is {} MiB: {}",
        budget.bytes() >> 20,
        budget.explanation());
    return budget.bytes();
  }

  private static ChecksumAlgorithm checksumAlgorithm(SparkConf conf) {
    String name = conf.get("spark.shuffle.checksum.algorithm", "ADLER32").toUpperCase(Locale.ROOT);
    for (ChecksumAlgorithm algorithm : ChecksumAlgorithm.values()) {
      if (algorithm.name().equals(name)) {
        return algorithm;
      }
    }
    return ChecksumAlgorithm.NONE;
  }

  /** Where map outputs in memory live. */
  public BlockStore store() {
    return store;
  }

  /** Reads blocks of other executors. */
  public OneSidedBlockStoreClient client() {
    return client;
  }

  /** The algorithm of the checksums that Spark's writers pass on. */
  public ChecksumAlgorithm checksumAlgorithm() {
    return checksumAlgorithm;
  }

  /** Whether map outputs go to memory at all, budget permitting. */
  public boolean keepsOutputsInMemory() {
    return keepsOutputsInMemory;
  }

  /**
   * Tells the driver where an output lies and waits for its acknowledgement, within a deadline.
   * When that fails the output is served over TCP, so nothing is lost.
   */
  public void publish(MapOutput output) {
    publisher.publish(output);
  }

  /** Tells the driver that an output lies in files, so that readers know why they use TCP. */
  public void publishInFiles(int shuffleId, long mapTaskId) {
    publisher.publishInFiles(shuffleId, mapTaskId);
  }

  /** The memory budget admitted no more of an output, which goes to files. */
  public void onBudgetSpent() {
    outputsBeyondBudget.increment();
    if (outputsBeyondBudget.sum() == 1) {
      LOG.warn(
          "map outputs go to files from now and then: the {} MiB of"
              + " spark.shuffle.rdma.memory.size are spent",
          store.pool().budgetBytes() >> 20);
    }
  }

  /** Sends this executor's totals to the driver; cheap, and called at the end of tasks. */
  public void report() {
    Map<String, Long> counters = accounting.snapshot();
    gauges().forEach((name, value) -> counters.put(ReadAccounting.GAUGES + name, value));
    directory.report(counters);
  }

  private Map<String, Long> gauges() {
    Map<String, Long> gauges = transports.gauges();
    gauges.put("slabs", (long) store.pool().gauges().slabs());
    gauges.put("slabBytes", store.pool().gauges().slabBytes());
    gauges.put("receiveSlabBytes", receivePool.pool().gauges().slabBytes());
    gauges.put("outputsBeyondBudget", outputsBeyondBudget.sum());
    return gauges;
  }

  /** Frees what a shuffle left here. */
  public void removeShuffle(int shuffleId) {
    store.removeShuffle(shuffleId);
    indexCache.dropShuffle(shuffleId);
    directory.forgetShuffle(shuffleId);
  }

  /** Stops everything, within the stop deadline. Idempotent. */
  @Override
  public void close() {
    if (!isClosed.compareAndSet(false, true)) {
      return;
    }
    Deadline deadline = Deadline.after(Duration.ofNanos(conf.shuffle().stopTimeoutNs()));
    report();
    client.close();
    threads.close(deadline);
    directory.close();
    store.close(deadline);
    receivePool.close();
    transports.close();
  }
}
