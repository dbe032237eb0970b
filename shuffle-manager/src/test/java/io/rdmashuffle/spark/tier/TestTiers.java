package io.rdmashuffle.spark.tier;

import io.rdmashuffle.conf.Durability;
import io.rdmashuffle.spark.tier.OutputTiers.WriteBehindSettings;
import io.rdmashuffle.store.BlockStore;
import io.rdmashuffle.store.IndexLocation;
import io.rdmashuffle.store.MappedOutputs;
import io.rdmashuffle.store.SlabPool;
import io.rdmashuffle.transport.Access;
import io.rdmashuffle.transport.AnonymousSlabFactory;
import io.rdmashuffle.transport.Deadline;
import io.rdmashuffle.transport.PeerIdentity;
import io.rdmashuffle.transport.SlabFactory;
import io.rdmashuffle.transport.Transport;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.SparkEnv;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;

/**
 * Tiers over a block store of their own and the files of the Spark context at hand, with a count of
 * what would have been told to the driver.
 */
public final class TestTiers implements AutoCloseable {
  static final int MAX_MAPPED = 2;

  private static final SlabFactory SLABS =
      new AnonymousSlabFactory(
          new PeerIdentity("app", "1", new byte[PeerIdentity.TOKEN_LENGTH]), "a test");

  /** Where outputs were published to lie, by map task. */
  final Map<Long, IndexLocation> locations = new ConcurrentHashMap<>();

  public final AtomicInteger published = new AtomicInteger();
  public final AtomicInteger publishedInFiles = new AtomicInteger();

  /** False once the driver has dropped the shuffles. */
  public volatile boolean isWanted = true;

  private final BlockStore store;
  private final OutputTiers tiers;

  /** Of which files are read over TCP only. */
  public TestTiers(long budgetBytes, Durability durability, WriteBehindSettings behind) {
    this(budgetBytes, durability, behind, List.of());
  }

  /**
   * @param transports with which files are registered, at most {@link #MAX_MAPPED} at a time
   */
  TestTiers(
      long budgetBytes,
      Durability durability,
      WriteBehindSettings behind,
      List<Transport> transports) {
    store =
        new BlockStore(
            new SlabPool(
                "test", SLABS, List.of(), Access.REMOTE_READ, budgetBytes, 4 << 20, Duration.ZERO));
    Announcer announcer =
        new Announcer() {
          @Override
          public boolean publish(int shuffleId, long mapTaskId, IndexLocation location) {
            published.incrementAndGet();
            locations.put(mapTaskId, location);
            return isWanted;
          }

          @Override
          public boolean publishInFiles(int shuffleId, long mapTaskId) {
            publishedInFiles.incrementAndGet();
            locations.remove(mapTaskId);
            return isWanted;
          }
        };
    SparkFiles files = new SparkFiles(SparkEnv.get().conf(), "1", sparkResolver());
    tiers = new OutputTiers(store, mapped(transports), files, announcer, durability, behind);
  }

  private static MappedOutputs mapped(List<Transport> transports) {
    SlabPool indexPool =
        new SlabPool(
            "test indexes", SLABS, transports, Access.REMOTE_READ, 1 << 20, 1 << 20, Duration.ZERO);
    return new MappedOutputs(
        indexPool, transports, new MappedOutputs.Limits(MAX_MAPPED, 1 << 30), Duration.ZERO);
  }

  /** In memory while the budget lasts. */
  public static TestTiers inMemory(long budgetBytes) {
    return new TestTiers(budgetBytes, Durability.MEMORY, new WriteBehindSettings(0, 0, false));
  }

  /** Finds files, and nothing in memory. */
  public static IndexShuffleBlockResolver sparkResolver() {
    return new IndexShuffleBlockResolver(SparkEnv.get().conf(), SparkEnv.get().blockManager());
  }

  public OutputTiers tiers() {
    return tiers;
  }

  public BlockStore store() {
    return store;
  }

  public long allocatedBytes() {
    return store.pool().gauges().allocatedBytes();
  }

  public long gauge(String name) {
    Map<String, Long> gauges = new HashMap<>();
    tiers.addGauges(gauges);
    return gauges.get(name);
  }

  /** Waits until a gauge has a value. */
  public void await(String name, long value) throws InterruptedException {
    Deadline deadline = Deadline.after(Duration.ofSeconds(30));
    while (gauge(name) != value) {
      if (deadline.isOver()) {
        throw new AssertionError(name + "=" + gauge(name) + ", expected " + value);
      }
      TimeUnit.MILLISECONDS.sleep(5);
    }
  }

  /** As at the end of an executor. */
  public void endWriting() {
    tiers.endWriting(Deadline.after(Duration.ofSeconds(10)));
  }

  @Override
  public void close() {
    endWriting();
    tiers.close(Deadline.after(Duration.ofSeconds(10)));
  }
}
