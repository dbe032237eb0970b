package io.rdmashuffle.transport;

import java.io.IOException;

/**
 * Runs file operations so that an interrupt already pending does not abort them: an interruptible
 * channel closes itself in an interrupted thread, and a cancelled task would then take a slab or a
 * connection that others share down with it.
 */
public final class Uninterrupted {
  private Uninterrupted() {}

  /** An operation on files. */
  @FunctionalInterface
  public interface FileOperation<T> {
    T run() throws IOException;
  }

  /** Runs the operation; the thread's interrupt status is afterwards what it was. */
  public static <T> T run(FileOperation<T> operation) throws IOException {
    boolean wasInterrupted = Thread.interrupted();
    try {
      return operation.run();
    } finally {
      if (wasInterrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
