package io.rdmashuffle.spark.directory;

import java.util.Objects;

/** The directory could not do what it was asked. The {@link #reason()} is for the program. */
public final class DirectoryException extends Exception {
  private static final long serialVersionUID = 1L;

  /** Why. */
  public enum Reason {
    /** No answer within the deadline; the driver may have done it or not. */
    TIMEOUT,
    /** The driver answered no; asking again will not help. */
    REFUSED,
    /** The driver has dropped the shuffle: nobody will read an output of it any more. */
    DROPPED,
    /** The driver's directory could not be reached. */
    UNREACHABLE,
    /** The other side speaks another version, or sent what cannot be read. */
    INCOMPATIBLE,
    /** This client is closed. */
    CLOSED
  }

  private final Reason reason;

  public DirectoryException(Reason reason, String message) {
    this(reason, message, null);
  }

  public DirectoryException(Reason reason, String message, Throwable cause) {
    super(message, cause);
    this.reason = Objects.requireNonNull(reason, "reason");
  }

  /** What went wrong, never null. */
  public Reason reason() {
    return reason;
  }
}
