package io.rdmashuffle.chaos;

import io.rdmashuffle.transport.Access;
import io.rdmashuffle.transport.Fault;
import io.rdmashuffle.transport.FaultGenerator;
import io.rdmashuffle.transport.PeerIdentity;
import io.rdmashuffle.transport.SlabMemory;
import java.util.SplittableRandom;

/**
 * Faults of one executor's calls at random. The same seed gives the same faults to the same
 * sequence of calls. Called by any thread.
 */
final class InjectedFaults implements FaultGenerator {
  private static final Fault[] READ_FAULTS = {Fault.ERROR, Fault.LATE, Fault.MISSING};
  private static final Fault[] CONNECT_FAULTS = {Fault.ERROR, Fault.LATE, Fault.MISSING};

  private final FaultRates rates;
  private final long seed;
  private final SplittableRandom random; // guarded by this

  InjectedFaults(FaultRates rates, long seed) {
    this.rates = rates;
    this.seed = seed;
    random = new SplittableRandom(seed);
  }

  @Override
  public synchronized Fault onRead(PeerIdentity peer, long remoteAddress, int length) {
    if (hits(rates.corrupt())) {
      return Fault.CORRUPT;
    }
    return hits(rates.read()) ? READ_FAULTS[random.nextInt(READ_FAULTS.length)] : Fault.NONE;
  }

  @Override
  public synchronized Fault onConnect(PeerIdentity peer) {
    return hits(rates.connect())
        ? CONNECT_FAULTS[random.nextInt(CONNECT_FAULTS.length)]
        : Fault.NONE;
  }

  @Override
  public synchronized Fault onRegister(SlabMemory slab, Access access) {
    return hits(rates.register()) ? Fault.ERROR : Fault.NONE;
  }

  /** Whether the next allocation of a slab is to fail. */
  synchronized boolean onAllocate() {
    return hits(rates.allocate());
  }

  private boolean hits(double rate) {
    return rate > 0 && random.nextDouble() < rate;
  }

  @Override
  public String toString() {
    return "chaos with seed " + seed;
  }
}
