package io.rdmashuffle.spark.write;

import io.rdmashuffle.store.BlockStore;
import io.rdmashuffle.store.ChecksumAlgorithm;
import io.rdmashuffle.store.MapOutput;
import io.rdmashuffle.store.SlabPool;
import io.rdmashuffle.transport.Access;
import io.rdmashuffle.transport.AnonymousSlabFactory;
import io.rdmashuffle.transport.PeerIdentity;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** A block store of its own, and a count of what would have been told to the driver. */
final class MemoryTierFake implements MemoryTier, AutoCloseable {
  final AtomicInteger published = new AtomicInteger();
  final AtomicInteger publishedInFiles = new AtomicInteger();
  final AtomicInteger budgetSpent = new AtomicInteger();

  private final ChecksumAlgorithm checksumAlgorithm;
  private final BlockStore store;

  MemoryTierFake(long budgetBytes, ChecksumAlgorithm checksumAlgorithm) {
    this.checksumAlgorithm = checksumAlgorithm;
    PeerIdentity owner = new PeerIdentity("app", "1", new byte[PeerIdentity.TOKEN_LENGTH]);
    store =
        new BlockStore(
            new SlabPool(
                "test",
                new AnonymousSlabFactory(owner, "a test"),
                List.of(),
                Access.REMOTE_READ,
                budgetBytes,
                4 << 20,
                Duration.ZERO));
  }

  @Override
  public BlockStore store() {
    return store;
  }

  @Override
  public ChecksumAlgorithm checksumAlgorithm() {
    return checksumAlgorithm;
  }

  @Override
  public void publish(MapOutput output) {
    published.incrementAndGet();
  }

  @Override
  public void publishInFiles(int shuffleId, long mapTaskId) {
    publishedInFiles.incrementAndGet();
  }

  @Override
  public void onBudgetSpent() {
    budgetSpent.incrementAndGet();
  }

  long allocatedBytes() {
    return store.pool().gauges().allocatedBytes();
  }

  @Override
  public void close() {
    store.close();
  }
}
