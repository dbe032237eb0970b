package io.rdmashuffle.transport;

import java.util.Objects;

/**
 * Whether a transport can be used by this process, and if not, why in words an administrator can
 * act on.
 *
 * @param isAvailable whether slabs can be registered and peers connected
 * @param failureKind what kind of obstacle stands in the way; null when available
 * @param cause one sentence, never null; when available it says what was chosen (device, directory)
 */
public record Availability(boolean isAvailable, FailureKind failureKind, String cause) {
  public Availability {
    Objects.requireNonNull(cause, "cause");
    if (isAvailable != (failureKind == null)) {
      throw new IllegalArgumentException(
          "isAvailable=" + isAvailable + " contradicts failureKind=" + failureKind);
    }
  }

  /** The transport works; {@code detail} says with what. */
  public static Availability available(String detail) {
    return new Availability(true, null, detail);
  }

  /** The transport cannot be used; {@code cause} says what was expected, found, and what to do. */
  public static Availability unavailable(FailureKind kind, String cause) {
    return new Availability(false, Objects.requireNonNull(kind, "kind"), cause);
  }
}
