package io.rdmashuffle.store;

import io.rdmashuffle.transport.RegisteredSlab;
import io.rdmashuffle.transport.SlabMemory;
import io.rdmashuffle.transport.Transport;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A slab of a {@link SlabPool}: its memory, and how each transport knows it. Owned by the pool;
 * whoever holds an extent of it may use the memory until the extent is given back, even after the
 * pool was closed.
 */
public final class Slab {
  /** ACTIVE lends extents; DRAINING lends none and waits for those out; DONE is unmapped. */
  enum State {
    ACTIVE,
    DRAINING,
    DONE
  }

  private static final Logger LOG = LoggerFactory.getLogger(Slab.class);

  private final SlabMemory memory;
  private final List<Transport> transports;
  private final RegisteredSlab[] registrations;

  // Guarded by the pool's lock.
  State state = State.ACTIVE;
  int extentsOut;

  /**
   * @param registrations one per transport, null where the transport refused
   */
  Slab(SlabMemory memory, List<Transport> transports, RegisteredSlab[] registrations) {
    this.memory = memory;
    this.transports = transports;
    this.registrations = registrations;
  }

  public int id() {
    return memory.id();
  }

  /** Bytes of the slab, header included. */
  public int length() {
    return memory.length();
  }

  /** The whole slab, little-endian, shared between threads: absolute access only. */
  public ByteBuffer buffer() {
    return memory.buffer();
  }

  /** The slab as a transport knows it; null when that transport refused to register it. */
  public RegisteredSlab registered(Transport transport) {
    for (int i = 0; i < registrations.length; i++) {
      if (transports.get(i) == transport) {
        return registrations[i];
      }
    }
    return null;
  }

  SlabDescriptor descriptor() {
    List<SlabDescriptor.Registration> found = new ArrayList<>(registrations.length);
    for (int i = 0; i < registrations.length; i++) {
      RegisteredSlab registered = registrations[i];
      if (registered != null) {
        found.add(
            new SlabDescriptor.Registration(
                transports.get(i).name(), registered.remoteAddress(), registered.remoteKey()));
      }
    }
    return new SlabDescriptor(id(), length(), found);
  }

  void closeRegistrations() {
    for (int i = registrations.length - 1; i >= 0; i--) {
      if (registrations[i] != null) {
        try {
          registrations[i].close();
        } catch (RuntimeException e) {
          LOG.warn("Cannot close the {} registration of {}", transports.get(i).name(), memory, e);
        }
      }
    }
  }

  void closeMemory() {
    try {
      memory.close();
    } catch (IOException | RuntimeException e) {
      LOG.warn("Cannot close {}", memory, e);
    }
  }

  @Override
  public String toString() {
    return memory.toString();
  }
}
