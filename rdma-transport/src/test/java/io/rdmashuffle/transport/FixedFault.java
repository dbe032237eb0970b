package io.rdmashuffle.transport;

import java.util.concurrent.atomic.AtomicLong;

/** One fault, once: at the nth read, connect or registration, counted from 1. */
public final class FixedFault implements FaultGenerator {
  private enum Operation {
    READ,
    CONNECT,
    REGISTER
  }

  private final Operation operation;
  private final long number;
  private final Fault fault;
  private final AtomicLong count = new AtomicLong();

  private FixedFault(Operation operation, long number, Fault fault) {
    this.operation = operation;
    this.number = number;
    this.fault = fault;
  }

  public static FixedFault onRead(long number, Fault fault) {
    return new FixedFault(Operation.READ, number, fault);
  }

  public static FixedFault onConnect(long number, Fault fault) {
    return new FixedFault(Operation.CONNECT, number, fault);
  }

  public static FixedFault onRegister(long number, Fault fault) {
    return new FixedFault(Operation.REGISTER, number, fault);
  }

  /** Whether the fault has happened. */
  public boolean hasHappened() {
    return count.get() >= number;
  }

  @Override
  public Fault onRead(PeerIdentity peer, long remoteAddress, int length) {
    return next(Operation.READ);
  }

  @Override
  public Fault onConnect(PeerIdentity peer) {
    return next(Operation.CONNECT);
  }

  @Override
  public Fault onRegister(SlabMemory slab, Access access) {
    return next(Operation.REGISTER);
  }

  @Override
  public String toString() {
    return fault + " at " + operation + " number " + number;
  }

  private Fault next(Operation asked) {
    return asked == operation && count.incrementAndGet() == number ? fault : Fault.NONE;
  }
}
