package io.rdmashuffle.it.rxe;

import io.rdmashuffle.conf.RdmaShuffleConf;
import io.rdmashuffle.transport.Access;
import io.rdmashuffle.transport.Connection;
import io.rdmashuffle.transport.Deadline;
import io.rdmashuffle.transport.PeerIdentity;
import io.rdmashuffle.transport.ReadBatch;
import io.rdmashuffle.transport.ReadListener;
import io.rdmashuffle.transport.RegisteredSlab;
import io.rdmashuffle.transport.SlabFactories;
import io.rdmashuffle.transport.SlabFactory;
import io.rdmashuffle.transport.SlabMemory;
import io.rdmashuffle.transport.Transport;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.verbs.VerbsTransports;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** The main of a JVM that has the plugin's jar and little else: reads once over RDMA. */
final class JarProbe {
  private static final int LENGTH = 1 << 20;
  private static final int DATA_LENGTH = LENGTH - SlabMemory.HEADER_LENGTH;
  private static final Duration LIMIT = Duration.ofSeconds(60);

  private JarProbe() {}

  /** Prints the version of Java once the bytes are there. */
  public static void main(String[] args) throws Exception {
    PeerIdentity identity = new PeerIdentity("app-probe", "0", new byte[PeerIdentity.TOKEN_LENGTH]);
    SlabFactory slabs = SlabFactories.open(Path.of("/dev/shm"), identity);
    try (Transport transport =
            VerbsTransports.open(identity, RdmaShuffleConf.from(Map.of()).transport());
        SlabMemory sourceMemory = slabs.create(LENGTH);
        SlabMemory targetMemory = slabs.create(LENGTH)) {
      if (!transport.availability().isAvailable()) {
        throw new IllegalStateException(transport.availability().cause());
      }
      byte[] data = new byte[DATA_LENGTH];
      new SplittableRandom(1).nextBytes(data);
      sourceMemory.buffer().put(SlabMemory.HEADER_LENGTH, data);
      try (RegisteredSlab source = transport.register(sourceMemory, Access.REMOTE_READ);
          RegisteredSlab target = transport.register(targetMemory, Access.LOCAL_WRITE);
          Connection connection =
              transport
                  .connect(transport.localEndpoint(), identity, Deadline.after(LIMIT))
                  .get(LIMIT.toSeconds(), TimeUnit.SECONDS)) {
        read(connection, source, target);
      }
      byte[] found = new byte[DATA_LENGTH];
      targetMemory.buffer().get(SlabMemory.HEADER_LENGTH, found);
      if (!Arrays.equals(data, found)) {
        throw new IllegalStateException("other bytes came than were there");
      }
    }
    System.out.println("read on Java " + Runtime.version().feature());
  }

  private static void read(Connection connection, RegisteredSlab source, RegisteredSlab target)
      throws Exception {
    CompletableFuture<Void> outcome = new CompletableFuture<>();
    ReadBatch batch = new ReadBatch(1).reset(Deadline.after(LIMIT));
    batch.add(
        source.remoteAddress() + SlabMemory.HEADER_LENGTH,
        source.remoteKey(),
        DATA_LENGTH,
        target,
        SlabMemory.HEADER_LENGTH);
    ReadListener listener =
        new ReadListener() {
          @Override
          public void onComplete(ReadBatch completed) {
            outcome.complete(null);
          }

          @Override
          public void onFailure(ReadBatch failed, TransportException failure) {
            outcome.completeExceptionally(failure);
          }
        };
    if (!connection.offer(batch, listener)) {
      throw new IllegalStateException("a connection without reads has no room for one");
    }
    outcome.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
  }
}
