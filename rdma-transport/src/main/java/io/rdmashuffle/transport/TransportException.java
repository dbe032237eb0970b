package io.rdmashuffle.transport;

import java.util.Objects;

/**
 * A failure of a transport, a connection or a read. The {@link #kind()} is for the program, the
 * message for the operator: it names operation, peer, device and native status, never a token or
 * key.
 */
public final class TransportException extends Exception {
  private static final long serialVersionUID = 1L;

  private final FailureKind kind;

  public TransportException(FailureKind kind, String message) {
    this(kind, message, null);
  }

  public TransportException(FailureKind kind, String message, Throwable cause) {
    super(message, cause);
    this.kind = Objects.requireNonNull(kind, "kind");
  }

  /** What went wrong, never null. */
  public FailureKind kind() {
    return kind;
  }
}
