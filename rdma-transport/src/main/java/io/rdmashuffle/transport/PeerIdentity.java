package io.rdmashuffle.transport;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.Objects;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Who an executor is: the application and executor id that Spark knows it by, and a random token
 * that only the driver and the executors of the application see. Transports never send or store the
 * token itself, only {@linkplain #proof(String) proofs} made with it.
 */
public final class PeerIdentity {
  /** Bytes of a token. */
  public static final int TOKEN_LENGTH = 32;

  /** Bytes of a proof (HMAC-SHA256). */
  public static final int PROOF_LENGTH = 32;

  private static final String ALGORITHM = "HmacSHA256";

  private final String applicationId;
  private final String executorId;
  private final byte[] token;

  /**
   * @param token {@value #TOKEN_LENGTH} random bytes, copied
   */
  public PeerIdentity(String applicationId, String executorId, byte[] token) {
    this.applicationId = Objects.requireNonNull(applicationId, "applicationId");
    this.executorId = Objects.requireNonNull(executorId, "executorId");
    if (token.length != TOKEN_LENGTH) {
      throw new IllegalArgumentException(
          "token length=" + token.length + ", expected " + TOKEN_LENGTH);
    }
    this.token = token.clone();
  }

  public String applicationId() {
    return applicationId;
  }

  public String executorId() {
    return executorId;
  }

  /** A copy of the token; only for the message that carries it to the driver. */
  public byte[] token() {
    return token.clone();
  }

  /**
   * Proof of knowing the token, for one purpose: HMAC-SHA256(token, purpose | application id |
   * executor id), each part preceded by its length so that no two inputs coincide.
   *
   * @param purpose what the proof is for, so that one made for a slab opens no connection
   */
  public byte[] proof(String purpose) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(token, ALGORITHM));
      for (String part : new String[] {purpose, applicationId, executorId}) {
        byte[] bytes = part.getBytes(StandardCharsets.UTF_8);
        mac.update((byte) (bytes.length >>> 24));
        mac.update((byte) (bytes.length >>> 16));
        mac.update((byte) (bytes.length >>> 8));
        mac.update((byte) bytes.length);
        mac.update(bytes);
      }
      return mac.doFinal();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(ALGORITHM + " is required of every Java runtime", e);
    }
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof PeerIdentity that
        && applicationId.equals(that.applicationId)
        && executorId.equals(that.executorId)
        && Arrays.equals(token, that.token);
  }

  @Override
  public int hashCode() {
    return Objects.hash(applicationId, executorId);
  }

  /** Application and executor id; never the token. */
  @Override
  public String toString() {
    return "executor " + executorId + " of " + applicationId;
  }
}
