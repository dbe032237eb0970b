package io.rdmashuffle.store;

import java.util.List;

/**
 * What peers must know of a slab to read it.
 *
 * @param slabId number of the slab, unique within the process
 * @param length bytes of the slab, header included
 * @param registrations one for each transport that can read it; empty when only TCP can
 */
public record SlabDescriptor(int slabId, int length, List<Registration> registrations) {
  public SlabDescriptor {
    registrations = List.copyOf(registrations);
  }

  /**
   * A slab over one transport.
   *
   * @param transport {@link io.rdmashuffle.transport.Transport#name()}
   * @param remoteAddress what a peer adds to an offset within the slab
   * @param remoteKey what a peer presents; a capability, so not to be logged
   */
  public record Registration(String transport, long remoteAddress, int remoteKey) {
    @Override
    public String toString() {
      return transport;
    }
  }
}
