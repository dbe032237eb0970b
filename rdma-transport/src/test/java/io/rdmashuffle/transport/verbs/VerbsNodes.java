package io.rdmashuffle.transport.verbs;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rdmashuffle.conf.RdmaShuffleConf;
import io.rdmashuffle.conf.TransportConfig;
import io.rdmashuffle.transport.Connection;
import io.rdmashuffle.transport.Deadline;
import io.rdmashuffle.transport.FailureKind;
import io.rdmashuffle.transport.Outcome;
import io.rdmashuffle.transport.PeerIdentity;
import io.rdmashuffle.transport.ReadBatch;
import io.rdmashuffle.transport.RegisteredSlab;
import io.rdmashuffle.transport.SlabFactories;
import io.rdmashuffle.transport.SlabMemory;
import io.rdmashuffle.transport.Transport;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportNode;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/** The nodes of one test, closed in reverse order; and what tests do with them. */
final class VerbsNodes implements AutoCloseable {
  static final int SLAB_LENGTH = 1 << 20;
  static final int DATA = SlabMemory.HEADER_LENGTH;

  private final Deque<TransportNode> opened = new ArrayDeque<>();

  /** A node on a device, skipping the test where there is none. */
  TransportNode open(String name, String... settings) {
    TransportNode node = openAnyhow(name, settings);
    assumeTrue(
        node.transport().availability().isAvailable(), node.transport().availability().cause());
    return node;
  }

  /** A node whose transport may be unavailable. */
  TransportNode openAnyhow(String name, String... settings) {
    return add(name, VerbsTransports.open(identity(name), conf(settings)));
  }

  TransportNode add(String name, Transport transport) {
    PeerIdentity self = identity(name);
    TransportNode node =
        new TransportNode(self, transport, SlabFactories.open(Path.of("/dev/shm"), self));
    opened.push(node);
    return node;
  }

  /** Settings as pairs of the key behind {@code spark.shuffle.rdma.} and the value. */
  static TransportConfig conf(String... settings) {
    Map<String, String> properties = new HashMap<>();
    for (int i = 0; i < settings.length; i += 2) {
      properties.put("spark.shuffle.rdma." + settings[i], settings[i + 1]);
    }
    return RdmaShuffleConf.from(properties).transport();
  }

  static PeerIdentity identity(String name) {
    byte[] token = new byte[PeerIdentity.TOKEN_LENGTH];
    Arrays.fill(token, (byte) name.hashCode());
    return new PeerIdentity("app", name, token);
  }

  static Deadline soon() {
    return Deadline.after(Duration.ofSeconds(30));
  }

  static Connection connect(TransportNode from, TransportNode to) throws Exception {
    return from.transport()
        .connect(to.transport().localEndpoint(), to.identity(), soon())
        .get(40, TimeUnit.SECONDS);
  }

  static TransportException connectFails(
      TransportNode from, byte[] endpoint, PeerIdentity peer, Deadline deadline) {
    ExecutionException failure =
        assertThrows(
            ExecutionException.class,
            () ->
                from.transport()
                    .connect(endpoint, peer, deadline)
                    .get(deadline.remainingMs() + 5000, TimeUnit.MILLISECONDS));
    return assertInstanceOf(TransportException.class, failure.getCause());
  }

  static ReadBatch batch(
      RegisteredSlab from, RegisteredSlab to, int pieces, int length, Deadline deadline) {
    ReadBatch batch = new ReadBatch(pieces).reset(deadline);
    for (int i = 0; i < pieces; i++) {
      int offset = DATA + i * length;
      batch.add(from.remoteAddress() + offset, from.remoteKey(), length, to, offset);
    }
    return batch;
  }

  /** Reads in pieces; null, or how it failed. */
  static TransportException read(
      Connection connection, RegisteredSlab from, RegisteredSlab to, int pieces, int length) {
    Outcome outcome = new Outcome();
    if (!connection.offer(batch(from, to, pieces, length, soon()), outcome)) {
      throw new AssertionError("refused though nothing is outstanding");
    }
    return outcome.await();
  }

  static boolean isKind(TransportException failure, FailureKind... kinds) {
    return failure != null && Arrays.asList(kinds).contains(failure.kind());
  }

  @Override
  public void close() throws IOException {
    while (!opened.isEmpty()) {
      opened.pop().close();
    }
  }
}
