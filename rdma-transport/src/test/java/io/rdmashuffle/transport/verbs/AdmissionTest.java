package io.rdmashuffle.transport.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.rdmashuffle.transport.PeerIdentity;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

final class AdmissionTest {
  private static final int MAX_INBOUND = 1000;

  private final AtomicLong nowNs = new AtomicLong(Long.MAX_VALUE - 10);
  private final PeerIdentity self = VerbsNodes.identity("listener");
  private final byte[] good = Handshake.request(self, new byte[Handshake.NONCE_LENGTH]);
  private final byte[] ofAnotherApplication =
      Handshake.request(
          new PeerIdentity("app-0", "listener", self.token()), new byte[Handshake.NONCE_LENGTH]);
  private final Admission admission = new Admission(self, MAX_INBOUND, nowNs::get);

  @Test
  void admitsWhoKnowsTheTokenAndNobodyElse() {
    assertNull(admission.check(good));
    assertEquals(Rejection.NOT_OURS, admission.check(new byte[56]));
    assertEquals(Rejection.WRONG_PROOF, admission.check(ofAnotherApplication));
    byte[] ofAnotherToken =
        Handshake.request(VerbsNodes.identity("other"), new byte[Handshake.NONCE_LENGTH]);
    assertEquals(Rejection.WRONG_PROOF, admission.check(ofAnotherToken));
  }

  @Test
  void boundsConnectionsThatAreNotConfirmed() {
    for (int i = 0; i < Admission.MAX_HALF_OPEN; i++) {
      assertNull(admission.check(good));
      admission.onAccepting();
    }
    assertEquals(Rejection.TOO_MANY, admission.check(good));
    admission.onEstablished();
    assertNull(admission.check(good));
    admission.onAccepting();
    assertEquals(Rejection.TOO_MANY, admission.check(good));
    admission.onClosed(true);
    assertNull(admission.check(good));
  }

  @Test
  void boundsConnections() {
    for (int i = 0; i < MAX_INBOUND; i++) {
      assertNull(admission.check(good));
      admission.onAccepting();
      admission.onEstablished();
    }
    assertEquals(Rejection.TOO_MANY, admission.check(good));
    admission.onClosed(false);
    assertNull(admission.check(good));
  }

  @Test
  void looksAtSoManyStrangersASecondAndNoMore() {
    for (int second = 0; second < 3; second++) {
      for (int i = 0; i < Admission.MAX_BAD_PER_SECOND; i++) {
        assertEquals(Rejection.WRONG_PROOF, admission.check(ofAnotherApplication));
      }
      for (int i = 0; i < 100_000; i++) {
        assertEquals(Rejection.TOO_MANY, admission.check(ofAnotherApplication));
      }
      assertEquals(Rejection.TOO_MANY, admission.check(good), "nobody is looked at");
      nowNs.addAndGet(1_000_000_000);
      assertNull(admission.check(good), "the flood of the last second is forgotten");
    }
  }

  /** Peers that come all at once, as at the start of a stage, are no flood. */
  @Test
  void goodRequestsAreNotCounted() {
    for (int i = 0; i < 10 * Admission.MAX_BAD_PER_SECOND; i++) {
      assertNull(admission.check(good));
    }
  }
}
