package io.rdmashuffle.spark.resolve;

import io.rdmashuffle.store.BlockStore;
import io.rdmashuffle.store.SlabPool;
import io.rdmashuffle.transport.Access;
import io.rdmashuffle.transport.PeerIdentity;
import io.rdmashuffle.transport.SlabFactories;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** Stores of map outputs in slabs of 1 MiB, without transports and without quarantine. */
final class TestStores {
  private TestStores() {}

  /** The caller closes it. */
  static BlockStore withBudget(long bytes) {
    return new BlockStore(
        new SlabPool(
            "outputs",
            SlabFactories.open(
                Path.of("/dev/shm"),
                new PeerIdentity("app", "1", new byte[PeerIdentity.TOKEN_LENGTH])),
            List.of(),
            Access.REMOTE_READ,
            bytes,
            1 << 20,
            Duration.ZERO));
  }
}
