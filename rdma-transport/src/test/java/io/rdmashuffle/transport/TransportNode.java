package io.rdmashuffle.transport;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Random;

/** What a process of an application has: an identity, a transport, slabs. Closed as a whole. */
public final class TransportNode implements AutoCloseable {
  private final PeerIdentity identity;
  private final Transport transport;
  private final SlabFactory slabs;
  private final Deque<Closeable> resources = new ArrayDeque<>();

  public TransportNode(PeerIdentity identity, Transport transport, SlabFactory slabs) {
    this.identity = identity;
    this.transport = transport;
    this.slabs = slabs;
  }

  public PeerIdentity identity() {
    return identity;
  }

  public Transport transport() {
    return transport;
  }

  /** A slab for the node to close. */
  public RegisteredSlab addSlab(int length, Access access) throws Exception {
    SlabMemory slab = slabs.create(length);
    resources.push(slab::close);
    RegisteredSlab registered = transport.register(slab, access);
    resources.push(registered::close);
    return registered;
  }

  /** The first bytes of a file as memory that peers may read. */
  public RegisteredSlab addFile(Path file, int length) throws Exception {
    SlabMemory window = FileWindow.map(file, 0, length);
    resources.push(window::close);
    RegisteredSlab registered = transport.register(window, Access.REMOTE_READ);
    resources.push(registered::close);
    return registered;
  }

  /** A slab that peers may read, filled with random bytes behind its header. */
  public RegisteredSlab addFilledSlab(int length, long seed) throws Exception {
    RegisteredSlab registered = addSlab(length, Access.REMOTE_READ);
    byte[] bytes = new byte[length - SlabMemory.HEADER_LENGTH];
    new Random(seed).nextBytes(bytes);
    ByteBuffer buffer = registered.slab().buffer();
    buffer.put(SlabMemory.HEADER_LENGTH, bytes);
    return registered;
  }

  /** Gives a slab up before the node is closed. */
  public void removeSlab(RegisteredSlab registered) throws IOException {
    registered.close();
    registered.slab().close();
  }

  @Override
  public void close() throws IOException {
    // Slabs are unregistered before the transport closes, and unmapped after nobody reads them.
    while (!resources.isEmpty()) {
      resources.pop().close();
    }
    transport.close();
  }
}
