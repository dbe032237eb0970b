package io.rdmashuffle.transport;

import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;

/**
 * Runs file operations to their end whether or not the thread is interrupted: an interruptible
 * channel closes itself in an interrupted thread, and one cancelled task would then take a slab or
 * a connection that others share down with it.
 */
public final class Uninterrupted {
  /** Interrupts in the midst of one operation that are borne; each costs one more try. */
  private static final int MAX_TRIES = 100;

  private Uninterrupted() {}

  /** An operation on files that leaves nothing behind when it fails, and can then be repeated. */
  @FunctionalInterface
  public interface FileOperation<T> {
    T run() throws IOException;
  }

  /** Runs the operation, none of which takes long; the thread stays interrupted if it was. */
  public static <T> T run(FileOperation<T> operation) throws IOException {
    boolean wasInterrupted = false;
    try {
      for (int tries = 1; ; tries++) {
        wasInterrupted |= Thread.interrupted();
        try {
          return operation.run();
        } catch (ClosedByInterruptException e) {
          wasInterrupted = true;
          if (tries == MAX_TRIES) {
            throw e;
          }
        }
      }
    } finally {
      if (wasInterrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
