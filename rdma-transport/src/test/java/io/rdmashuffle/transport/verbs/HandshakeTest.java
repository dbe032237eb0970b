package io.rdmashuffle.transport.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.transport.PeerIdentity;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

final class HandshakeTest {
  /** What a request may have over RDMA_PS_TCP, and an acceptance. */
  private static final int REQUEST_ROOM = 56;

  private static final int ACCEPTANCE_ROOM = 196;

  private final PeerIdentity listener = identity("listener", 1);
  private final byte[] nonce = {1, 2, 3, 4, 5, 6, 7, 8};

  @Test
  void bothSidesProveThatTheyKnowTheToken() {
    byte[] request = padded(Handshake.request(listener, nonce), REQUEST_ROOM);
    assertNull(Handshake.check(request, listener));
    byte[] acceptance = padded(Handshake.acceptance(request, listener), ACCEPTANCE_ROOM);
    assertTrue(Handshake.isGenuine(acceptance, listener, nonce));
  }

  @Test
  void refusesAnotherTokenExecutorOrNonce() {
    byte[] request = Handshake.request(listener, nonce);
    assertEquals(Rejection.WRONG_PROOF, Handshake.check(request, identity("listener", 2)));
    assertEquals(Rejection.WRONG_PROOF, Handshake.check(request, identity("other", 1)));
    request[4]++;
    assertEquals(Rejection.WRONG_PROOF, Handshake.check(request, listener));
  }

  @Test
  void refusesWhatIsNoRequest() {
    assertEquals(Rejection.NOT_OURS, Handshake.check(new byte[0], listener));
    assertEquals(Rejection.NOT_OURS, Handshake.check(new byte[REQUEST_ROOM], listener));
    byte[] request = Handshake.request(listener, nonce);
    byte[] cut = Arrays.copyOf(request, request.length - 1);
    assertEquals(Rejection.NOT_OURS, Handshake.check(cut, listener));
  }

  @Test
  void refusesAnAcceptanceOfAnotherOrForAnotherNonce() {
    byte[] request = Handshake.request(listener, nonce);
    byte[] foreign = Handshake.acceptance(request, identity("listener", 2));
    assertFalse(Handshake.isGenuine(foreign, listener, nonce));
    byte[] acceptance = Handshake.acceptance(request, listener);
    assertFalse(Handshake.isGenuine(acceptance, listener, new byte[8]));
    assertFalse(Handshake.isGenuine(new byte[0], listener, nonce));
  }

  @Test
  void theRequestDoesNotServeAsAcceptance() {
    byte[] request = Handshake.request(listener, nonce);
    byte[] proof = Arrays.copyOfRange(request, 12, request.length);
    byte[] forged = Arrays.copyOf(request, 36);
    System.arraycopy(proof, 0, forged, 4, proof.length);
    assertFalse(Handshake.isGenuine(forged, listener, nonce));
  }

  @Test
  void reasonsOfARejectionArrive() {
    for (Rejection reason : Rejection.values()) {
      assertEquals(reason, Handshake.reasonOf(padded(Handshake.rejection(reason), 148)));
    }
    assertNull(Handshake.reasonOf(new byte[148]), "not ours");
    assertEquals(Rejection.UNKNOWN, Rejection.of(99));
  }

  private static byte[] padded(byte[] bytes, int length) {
    assertTrue(bytes.length <= length);
    return Arrays.copyOf(bytes, length);
  }

  private static PeerIdentity identity(String executorId, int tokenByte) {
    byte[] token = new byte[PeerIdentity.TOKEN_LENGTH];
    Arrays.fill(token, (byte) tokenByte);
    return new PeerIdentity("app", executorId, token);
  }
}
