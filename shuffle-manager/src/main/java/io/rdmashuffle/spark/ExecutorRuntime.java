package io.rdmashuffle.spark;

import io.rdmashuffle.conf.BlockStoreConfig;
import io.rdmashuffle.conf.Durability;
import io.rdmashuffle.conf.RdmaShuffleConf;
import io.rdmashuffle.spark.directory.ClientSettings;
import io.rdmashuffle.spark.directory.DirectoryClient;
import io.rdmashuffle.spark.read.BlockFetcher;
import io.rdmashuffle.spark.read.FileReads;
import io.rdmashuffle.spark.read.OneSidedBlockStoreClient;
import io.rdmashuffle.spark.read.ReadServices;
import io.rdmashuffle.spark.read.ServiceThenOwner;
import io.rdmashuffle.spark.tier.OutputTiers;
import io.rdmashuffle.spark.tier.SparkFiles;
import io.rdmashuffle.spark.write.DirectWriters;
import io.rdmashuffle.store.BlockStore;
import io.rdmashuffle.store.IndexBlockCache;
import io.rdmashuffle.store.MappedOutputs;
import io.rdmashuffle.store.ReceivePool;
import io.rdmashuffle.store.SlabPool;
import io.rdmashuffle.store.SlabPoolGauges;
import io.rdmashuffle.transport.Access;
import io.rdmashuffle.transport.Deadline;
import io.rdmashuffle.transport.PeerIdentity;
import io.rdmashuffle.transport.SlabFactories;
import io.rdmashuffle.transport.SlabFactory;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.network.util.MapConfigProvider;
import org.apache.spark.network.util.TransportConf;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.apache.spark.storage.BlockManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Everything the plugin runs in one executor: slabs and the block store in them, transports, the
 * client of the driver's directory, and the client that fetches blocks. Made once, closed once;
 * {@link #close()} leaves no thread, mapping, descriptor or device object behind.
 */
public final class ExecutorRuntime implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ExecutorRuntime.class);

  /** Index blocks of files: 512 of them with 1,000 partitions and checksums. */
  private static final long FILE_INDEX_BYTES = 8 << 20;

  private static final Duration SWEEP_FILES = Duration.ofSeconds(1);
  private static final Duration ASK_FOR_DROPPED = Duration.ofSeconds(20);
  private static final Duration LOOK_FOR_IDLE_PEERS = Duration.ofMinutes(1);

  private final RdmaShuffleConf conf;
  private final String executorId;

  private final Transports transports;
  private final OutputTiers tiers;
  private final DirectWriters writers;
  private final ReceivePool receivePool;
  private final IndexBlockCache indexCache;
  private final DirectoryClient directory;
  private final Publisher publisher;
  private final RuntimeThreads threads;
  private final ReadAccounting accounting = new ReadAccounting();
  private final OneSidedBlockStoreClient client;

  private final AtomicBoolean isClosed = new AtomicBoolean();

  private ExecutorRuntime(
      SparkEnv env,
      RdmaShuffleConf conf,
      IndexShuffleBlockResolver sparkResolver,
      RuntimeWrappers wrappers) {
    this.conf = conf;
    executorId = env.executorId();
    SparkConf sparkConf = env.conf();
    PeerIdentity self = new PeerIdentity(sparkConf.getAppId(), executorId, newToken());
    BlockStoreConfig storeConfig = conf.blockStore();
    // First of all, since it may refuse.
    Durability durability = SparkSettings.durability(sparkConf, storeConfig);
    long budget = durability == Durability.DISK ? 0 : budgetBytes(storeConfig, sparkConf);
    SlabFactory slabs = wrappers.slabs().apply(SlabFactories.open(storeConfig.memoryDir(), self));
    String host = env.blockManager().blockManagerId().host();
    transports = Transports.open(self, host, slabs, conf, sparkConf, wrappers.transport());
    int slabLength = (int) storeConfig.slabSizeBytes();
    Duration quarantine = transports.quarantine(Duration.ofNanos(storeConfig.quarantineNs()));
    BlockStore store =
        new BlockStore(
            new SlabPool(
                "map outputs",
                slabs,
                transports.available(),
                Access.REMOTE_READ,
                budget,
                slabLength,
                quarantine));
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
    MappedOutputs mapped = mappedOutputs(slabs, fileLimits(storeConfig, sparkConf, budget));
    publisher =
        new Publisher(
            directory,
            List.of(store.pool(), mapped.indexPool()),
            Duration.ofNanos(conf.shuffle().publishTimeoutNs()));
    tiers =
        new OutputTiers(
            store,
            mapped,
            new SparkFiles(sparkConf, executorId, sparkResolver),
            publisher,
            durability,
            new OutputTiers.WriteBehindSettings(
                storeConfig.writeBehindSizeBytes(),
                storeConfig.writeBehindTimeoutNs(),
                SparkSettings.hasShuffleService(sparkConf)));
    writers = new DirectWriters(tiers, sparkConf, env.blockManager(), env.serializerManager());
    threads = new RuntimeThreads(receivePool);
    threads.every(SWEEP_FILES, tiers::sweep);
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
                new FileReads(
                    threads.fileReads(),
                    new TransportConf(
                        "shuffle", new MapConfigProvider(SparkSettings.asMap(sparkConf)))),
                conf.shuffle(),
                conf.transport()),
            tcpFetcher(env),
            threads.fallbacks());
    Map<String, byte[]> endpoints = transports.endpoints();
    if (SparkSettings.hasShuffleService(sparkConf)) {
      endpoints.put(OwnerPort.NAME, OwnerPort.encode(env.blockManager().blockManagerId().port()));
    }
    publisher.register(self, host, endpoints);
    threads.every(ASK_FOR_DROPPED, this::freeDropped);
    threads.every(LOOK_FOR_IDLE_PEERS, client::dropIdlePeers);
  }

  /**
   * Asks which shuffles are gone. Spark tells executors, but not one whose block manager it has
   * given up for a while, as it does after a failed fetch.
   */
  private void freeDropped() {
    SortedSet<Integer> held = tiers.shuffleIds();
    if (!held.isEmpty()) {
      CompletableFuture<Void> unused =
          directory
              .droppedOf(held, Deadline.after(Duration.ofNanos(conf.shuffle().locateTimeoutNs())))
              .thenAcceptAsync(
                  dropped -> dropped.forEach(this::removeShuffle), threads.fallbacks());
    }
  }

  /**
   * Starts the plugin in the executor of {@code env}, whose block manager is initialized.
   *
   * @param sparkResolver Spark's own, for the files of map outputs
   * @param wrappers put around slabs and transports
   * @throws IllegalArgumentException when the executor cannot have the memory it is told to take
   */
  public static ExecutorRuntime start(
      SparkEnv env, IndexShuffleBlockResolver sparkResolver, RuntimeWrappers wrappers) {
    ExecutorRuntime runtime =
        new ExecutorRuntime(
            env, RdmaShuffleConf.from(SparkSettings.asMap(env.conf())), sparkResolver, wrappers);
    LOG.info("executor {} reads over {}", runtime.executorId, runtime.transports);
    runtime.prepareMemory();
    return runtime;
  }

  /** Makes the first slabs on a thread of ours, so that they do not take the first tasks' time. */
  private void prepareMemory() {
    SlabPool outputs = tiers.store().pool();
    threads.continuations().execute(outputs::prepare);
    threads.continuations().execute(receivePool.pool()::prepare);
  }

  private static byte[] newToken() {
    byte[] token = new byte[PeerIdentity.TOKEN_LENGTH];
    new SecureRandom().nextBytes(token);
    return token;
  }

  private static long budgetBytes(BlockStoreConfig storeConfig, SparkConf sparkConf) {
    MemoryRoom room = MemoryRoom.onThisMachine(storeConfig.memoryDir(), sparkConf);
    long sparkBytes = sparkBytes(sparkConf);
    if (storeConfig.memorySizeBytes().isPresent()) {
      long bytes = storeConfig.memorySizeBytes().getAsLong();
      MemoryBudget.check(bytes, room, sparkBytes, storeConfig.receiveSizeBytes());
      return bytes;
    }
    MemoryBudget budget =
        MemoryBudget.automatic(
            room, sparkBytes, storeConfig.receiveSizeBytes(), storeConfig.slabSizeBytes());
    String message = "spark.shuffle.rdma.memory.size=auto is {} MiB: {}";
    if (budget.bytes() == 0) {
      LOG.warn(message + "; map outputs go to files", 0, budget.explanation());
    } else {
      LOG.info(message, budget.bytes() >> 20, budget.explanation());
    }
    return budget.bytes();
  }

  private static long sparkBytes(SparkConf sparkConf) {
    return Runtime.getRuntime().maxMemory() + MemoryRoom.offHeapBytes(sparkConf);
  }

  /** A lingering file costs a descriptor, and whoever comes late to it a connection: no haste. */
  private MappedOutputs mappedOutputs(SlabFactory slabs, MappedOutputs.Limits limits) {
    Duration quarantine = Duration.ofNanos(conf.blockStore().quarantineNs());
    SlabPool indexPool =
        new SlabPool(
            "file indexes",
            slabs,
            transports.available(),
            Access.REMOTE_READ,
            FILE_INDEX_BYTES,
            (int) Math.min(FILE_INDEX_BYTES, conf.blockStore().slabSizeBytes()),
            quarantine);
    return new MappedOutputs(indexPool, transports.available(), limits, quarantine);
  }

  /** Files that are registered with a device stay in memory, which must have room for them. */
  private MappedOutputs.Limits fileLimits(
      BlockStoreConfig storeConfig, SparkConf sparkConf, long budget) {
    long bytes = storeConfig.filesMaxSizeBytes();
    if (transports.haveDevice()) {
      long left =
          MemoryBudget.leftForFiles(
              MemoryRoom.onThisMachine(storeConfig.memoryDir(), sparkConf),
              sparkBytes(sparkConf),
              storeConfig.receiveSizeBytes(),
              budget);
      if (left < bytes) {
        LOG.info(
            "spark.shuffle.rdma.files.maxSize is {} MiB instead of {}: no more memory is left for"
                + " files that are registered",
            left >> 20,
            bytes >> 20);
        bytes = left;
      }
    }
    return new MappedOutputs.Limits(storeConfig.filesMaxRegions(), bytes);
  }

  /** How blocks are fetched over TCP, from executors or from the shuffle service of their hosts. */
  private BlockFetcher tcpFetcher(SparkEnv env) {
    BlockManager blockManager = env.blockManager();
    if (!SparkSettings.hasShuffleService(env.conf())) {
      return blockManager.blockStoreClient()::fetchBlocks;
    }
    OwnerPort ports = new OwnerPort(directory, Duration.ofNanos(conf.shuffle().locateTimeoutNs()));
    return new ServiceThenOwner(
        blockManager.blockStoreClient()::fetchBlocks,
        blockManager.blockTransferService()::fetchBlocks,
        ports::of,
        threads.fallbacks());
  }

  /** Where map outputs in memory live. */
  public BlockStore store() {
    return tiers.store();
  }

  /** Map outputs, in memory and in files. */
  public OutputTiers outputs() {
    return tiers;
  }

  /** Reads blocks of other executors. */
  public OneSidedBlockStoreClient client() {
    return client;
  }

  /** A task begins to read a shuffle. */
  public void beginRead(int shuffleId) {
    tiers.beginUse(shuffleId);
  }

  /** A task that read a shuffle has ended. */
  public void endRead(int shuffleId) {
    tiers.endUse(shuffleId);
    report();
  }

  /** Creates the writers of tasks. */
  public DirectWriters writers() {
    return writers;
  }

  /** Sends this executor's totals to the driver; cheap, and called at the end of tasks. */
  public void report() {
    Map<String, Long> counters = accounting.snapshot();
    gauges().forEach((name, value) -> counters.put(ReadAccounting.GAUGES + name, value));
    directory.report(counters);
  }

  /** Bytes that transports put into receive memory since the start, index blocks included. */
  public long transportedBytes() {
    return transports.bytesRead();
  }

  /** What this executor holds now, by name; bytes, or counts. */
  public Map<String, Long> gauges() {
    Map<String, Long> gauges = transports.gauges();
    tiers.addGauges(gauges);
    SlabPoolGauges buffers = receivePool.pool().gauges();
    gauges.put("receiveSlabBytes", buffers.slabBytes());
    gauges.put("receiveBytesLent", buffers.allocatedBytes());
    return gauges;
  }

  /** Frees what a shuffle left here. */
  public void removeShuffle(int shuffleId) {
    tiers.removeShuffle(shuffleId);
    indexCache.dropShuffle(shuffleId);
    directory.forgetShuffle(shuffleId);
  }

  /** Stops everything, within twice the stop deadline. Idempotent. */
  @Override
  public void close() {
    if (!isClosed.compareAndSet(false, true)) {
      return;
    }
    Duration timeout = Duration.ofNanos(conf.shuffle().stopTimeoutNs());
    tiers.endWriting(Deadline.after(timeout));
    Deadline deadline = Deadline.after(timeout);
    report();
    client.close();
    threads.close(deadline);
    directory.close();
    tiers.close(deadline);
    receivePool.close();
    transports.close();
  }
}
