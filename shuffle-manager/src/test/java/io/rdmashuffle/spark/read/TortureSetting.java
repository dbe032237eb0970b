package io.rdmashuffle.spark.read;

import io.rdmashuffle.transport.PeerIdentity;
import io.rdmashuffle.transport.SlabFactories;
import io.rdmashuffle.transport.SlabFactory;
import io.rdmashuffle.transport.Transport;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.sharedmemory.SharedMemoryTransport;
import io.rdmashuffle.transport.verbs.VerbsTransports;
import java.nio.file.Path;

/**
 * What owner and readers of one torture have in common; each is a process of its own.
 *
 * @param directory where they meet
 * @param transport {@code shm} or {@code rdma}
 */
record TortureSetting(Path directory, String transport) {
  private static final Path MEMORY = Path.of("/dev/shm");

  /** Where the owner says how to reach it. */
  Path greeting() {
    return directory.resolve("owner");
  }

  Path board() {
    return directory.resolve("board");
  }

  static PeerIdentity identity(String executorId) {
    return TwoExecutors.identity(executorId, executorId.hashCode());
  }

  static SlabFactory slabs(PeerIdentity self) {
    return SlabFactories.open(MEMORY, self);
  }

  Transport open(PeerIdentity self, SlabFactory slabs, String... settings)
      throws TransportException {
    Transport opened =
        transport.equals("rdma")
            ? VerbsTransports.open(self, ReaderSide.conf(settings).transport())
            : SharedMemoryTransport.open(self, slabs.shareable());
    if (!opened.availability().isAvailable()) {
      throw new TransportException(
          opened.availability().failureKind(), opened.availability().cause());
    }
    return opened;
  }
}
