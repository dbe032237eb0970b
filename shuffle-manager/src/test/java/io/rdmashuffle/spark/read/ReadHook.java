package io.rdmashuffle.spark.read;

import io.rdmashuffle.transport.Fault;
import io.rdmashuffle.transport.FaultGenerator;
import io.rdmashuffle.transport.PeerIdentity;
import java.util.concurrent.atomic.AtomicInteger;

/** Lets a test act right before a read, which is told by its number, from 1, and its length. */
final class ReadHook implements FaultGenerator {
  interface Action {
    Fault onRead(int number, int length);
  }

  private final AtomicInteger count = new AtomicInteger();
  private volatile Action action = (number, length) -> Fault.NONE;

  void set(Action newAction) {
    count.set(0);
    action = newAction;
  }

  /** Does something once, before the read with that number. */
  void before(int number, Runnable what) {
    set(
        (n, length) -> {
          if (n == number) {
            what.run();
          }
          return Fault.NONE;
        });
  }

  int reads() {
    return count.get();
  }

  @Override
  public Fault onRead(PeerIdentity peer, long remoteAddress, int length) {
    return action.onRead(count.incrementAndGet(), length);
  }
}
