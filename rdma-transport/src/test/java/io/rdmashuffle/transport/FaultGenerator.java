package io.rdmashuffle.transport;

/**
 * Decides what goes wrong in a {@link FaultyTransport}. Called by any thread. {@code toString} ends
 * up in the messages of injected failures, so it says how to get the same faults again.
 */
public interface FaultGenerator {
  /** Lets everything through. */
  static FaultGenerator none() {
    return new FaultGenerator() {
      @Override
      public String toString() {
        return "no fault";
      }
    };
  }

  /** Asked for every read of a batch that is offered on an open connection. */
  default Fault onRead(PeerIdentity peer, long remoteAddress, int length) {
    return Fault.NONE;
  }

  default Fault onConnect(PeerIdentity peer) {
    return Fault.NONE;
  }

  default Fault onRegister(SlabMemory slab, Access access) {
    return Fault.NONE;
  }

  /** Both are asked; the fault of this one wins. */
  default FaultGenerator and(FaultGenerator other) {
    FaultGenerator first = this;
    return new FaultGenerator() {
      @Override
      public Fault onRead(PeerIdentity peer, long remoteAddress, int length) {
        return either(
            first.onRead(peer, remoteAddress, length), other.onRead(peer, remoteAddress, length));
      }

      @Override
      public Fault onConnect(PeerIdentity peer) {
        return either(first.onConnect(peer), other.onConnect(peer));
      }

      @Override
      public Fault onRegister(SlabMemory slab, Access access) {
        return either(first.onRegister(slab, access), other.onRegister(slab, access));
      }

      @Override
      public String toString() {
        return first + " and " + other;
      }
    };
  }

  private static Fault either(Fault first, Fault second) {
    return first == Fault.NONE ? second : first;
  }
}
