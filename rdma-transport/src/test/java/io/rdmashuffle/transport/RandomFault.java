package io.rdmashuffle.transport;

import java.util.Random;

/** Faults at random. The same seed gives the same faults to the same sequence of operations. */
public final class RandomFault implements FaultGenerator {
  private final double readRate;
  private final double connectRate;
  private final long seed;
  private final Fault[] faults;
  private final Random random;

  private RandomFault(double readRate, double connectRate, long seed, Fault... faults) {
    this.readRate = readRate;
    this.connectRate = connectRate;
    this.seed = seed;
    this.faults = faults.clone();
    random = new Random(seed);
  }

  /**
   * Faults of reads.
   *
   * @param rate share of reads that get one of {@code faults}, 0 to 1
   */
  public static RandomFault ofReads(double rate, long seed, Fault... faults) {
    return new RandomFault(rate, 0, seed, faults);
  }

  /**
   * Faults of connects.
   *
   * @param rate share of connects that get one of {@code faults}, 0 to 1
   */
  public static RandomFault ofConnects(double rate, long seed, Fault... faults) {
    return new RandomFault(0, rate, seed, faults);
  }

  @Override
  public Fault onRead(PeerIdentity peer, long remoteAddress, int length) {
    return next(readRate);
  }

  @Override
  public Fault onConnect(PeerIdentity peer) {
    return next(connectRate);
  }

  @Override
  public String toString() {
    return "random faults, readRate=" + readRate + " connectRate=" + connectRate + " seed=" + seed;
  }

  private synchronized Fault next(double rate) {
    if (rate == 0 || random.nextDouble() >= rate) {
      return Fault.NONE;
    }
    return faults[random.nextInt(faults.length)];
  }
}
