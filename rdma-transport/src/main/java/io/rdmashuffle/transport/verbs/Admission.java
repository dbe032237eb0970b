package io.rdmashuffle.transport.verbs;

import io.rdmashuffle.transport.PeerIdentity;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Decides which connect requests a listener accepts: those that prove to know its token, as many as
 * there is room for. To look at a proof costs a hash, so strangers who send many requests are
 * turned away unseen for the rest of a second, and with them, for that long, everybody else: peers
 * then read over TCP. Owner: the connection manager's thread.
 */
final class Admission {
  /** Requests accepted whose other side has not confirmed yet. */
  static final int MAX_HALF_OPEN = 256;

  /** Bad requests looked at per second: some hundredths of a processor. */
  static final int MAX_BAD_PER_SECOND = 1000;

  private static final long PERIOD_NS = TimeUnit.SECONDS.toNanos(1);

  private final PeerIdentity self;
  private final int maxInbound;
  private final LongSupplier nanoClock;
  private int inbound;
  private int halfOpen;
  private int badInPeriod;
  private long periodStartNs;

  /**
   * @param maxInbound most connections at a time
   */
  Admission(PeerIdentity self, int maxInbound, LongSupplier nanoClock) {
    this.self = self;
    this.maxInbound = maxInbound;
    this.nanoClock = nanoClock;
    periodStartNs = nanoClock.getAsLong();
  }

  /** Why a request is turned away, null if it is good and there is room. */
  Rejection check(byte[] request) {
    if (inbound >= maxInbound || halfOpen >= MAX_HALF_OPEN || isFlooded()) {
      return Rejection.TOO_MANY;
    }
    Rejection rejection = Handshake.check(request, self);
    if (rejection != null) {
      badInPeriod++;
    }
    return rejection;
  }

  private boolean isFlooded() {
    long nowNs = nanoClock.getAsLong();
    if (nowNs - periodStartNs >= PERIOD_NS) {
      periodStartNs = nowNs;
      badInPeriod = 0;
    }
    return badInPeriod >= MAX_BAD_PER_SECOND;
  }

  void onAccepting() {
    inbound++;
    halfOpen++;
  }

  void onEstablished() {
    halfOpen--;
  }

  void onClosed(boolean wasHalfOpen) {
    inbound--;
    if (wasHalfOpen) {
      halfOpen--;
    }
  }
}
