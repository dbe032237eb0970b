package io.rdmashuffle.transport.verbs;

import io.rdmashuffle.transport.PeerIdentity;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.HexFormat;

/**
 * What the two sides tell each other in the private data of the connection manager, at most 56
 * bytes from the connecting side.
 *
 * <p>Request: magic with version (4), nonce (8), proof of knowing the listener's token (32).
 * Acceptance: magic (4), the listener's proof for the same nonce (32). Rejection: magic (4), reason
 * (1). The proof keeps out whoever can reach the port but does not belong to the application. It
 * does not hide anything from who can read the wire: such a one can repeat a request, but also sees
 * the remote keys and the data itself, since RDMA has no encryption. Nothing is remotely writable,
 * so all it gains is reads.
 */
final class Handshake {
  static final int NONCE_LENGTH = 8;

  private static final int MAGIC = 0x52535631; // "RSV1"
  private static final int REQUEST_LENGTH = 4 + NONCE_LENGTH + PeerIdentity.PROOF_LENGTH;
  private static final int ACCEPTANCE_LENGTH = 4 + PeerIdentity.PROOF_LENGTH;
  private static final int REJECTION_LENGTH = 5;

  private Handshake() {}

  static byte[] request(PeerIdentity listener, byte[] nonce) {
    return ByteBuffer.allocate(REQUEST_LENGTH)
        .putInt(MAGIC)
        .put(nonce)
        .put(requestProof(listener, nonce))
        .array();
  }

  /** Checks a request; null if it is good. The fabric may have padded it. */
  static Rejection check(byte[] request, PeerIdentity self) {
    if (request.length < REQUEST_LENGTH || ByteBuffer.wrap(request).getInt() != MAGIC) {
      return Rejection.NOT_OURS;
    }
    byte[] proof = new byte[PeerIdentity.PROOF_LENGTH];
    ByteBuffer.wrap(request).get(4 + NONCE_LENGTH, proof);
    return MessageDigest.isEqual(proof, requestProof(self, nonceOf(request)))
        ? null
        : Rejection.WRONG_PROOF;
  }

  /** The answer to a request that was found good. */
  static byte[] acceptance(byte[] request, PeerIdentity self) {
    return ByteBuffer.allocate(ACCEPTANCE_LENGTH)
        .putInt(MAGIC)
        .put(acceptanceProof(self, nonceOf(request)))
        .array();
  }

  /** Whether who accepted is who we meant to reach. */
  static boolean isGenuine(byte[] acceptance, PeerIdentity listener, byte[] nonce) {
    if (acceptance.length < ACCEPTANCE_LENGTH || ByteBuffer.wrap(acceptance).getInt() != MAGIC) {
      return false;
    }
    byte[] proof = new byte[PeerIdentity.PROOF_LENGTH];
    ByteBuffer.wrap(acceptance).get(4, proof);
    return MessageDigest.isEqual(proof, acceptanceProof(listener, nonce));
  }

  static byte[] rejection(Rejection reason) {
    return ByteBuffer.allocate(REJECTION_LENGTH).putInt(MAGIC).put((byte) reason.number()).array();
  }

  /** The reason in a rejection, null when it is not one of ours. */
  static Rejection reasonOf(byte[] rejection) {
    if (rejection.length < REJECTION_LENGTH || ByteBuffer.wrap(rejection).getInt() != MAGIC) {
      return null;
    }
    return Rejection.of(rejection[4]);
  }

  private static byte[] nonceOf(byte[] request) {
    byte[] nonce = new byte[NONCE_LENGTH];
    ByteBuffer.wrap(request).get(4, nonce);
    return nonce;
  }

  private static byte[] requestProof(PeerIdentity listener, byte[] nonce) {
    return listener.proof("rdma connect " + HexFormat.of().formatHex(nonce));
  }

  private static byte[] acceptanceProof(PeerIdentity listener, byte[] nonce) {
    return listener.proof("rdma accept " + HexFormat.of().formatHex(nonce));
  }
}
