package io.rdmashuffle.spark.directory;

import io.rdmashuffle.spark.directory.DirectoryException.Reason;
import io.rdmashuffle.transport.Deadline;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Waiting for answers of the driver, and what they mean when they are not what was asked for. */
final class Answers {
  private Answers() {}

  /** Reads an answer. */
  interface Decoder<T> {
    T decode(byte[] answer) throws DirectoryMessageException;
  }

  /**
   * Waits no longer than the deadline. The future goes on whether the wait ends by the deadline, an
   * interrupt or an answer.
   */
  static <T> T await(CompletableFuture<T> future, Deadline deadline)
      throws DirectoryException, InterruptedException {
    try {
      return future.get(deadline.remainingNs(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      throw new DirectoryException(
          Reason.TIMEOUT, "no answer of the driver's directory within the deadline", e);
    } catch (ExecutionException e) {
      throw again(failure(e));
    }
  }

  /**
   * What an answer says.
   *
   * @throws DirectoryException when it is a refusal, or cannot be read
   */
  static <T> T read(byte[] answer, Decoder<T> decoder) throws DirectoryException {
    try {
      if (new MessageReader(answer).type() == Messages.FAILED) {
        throw Messages.decodeFailed(answer);
      }
      return decoder.decode(answer);
    } catch (DirectoryMessageException e) {
      throw new DirectoryException(
          Reason.INCOMPATIBLE, "answer of the driver's directory: " + e.getMessage(), e);
    }
  }

  /** As {@link #read}, for use within a stage of a future. */
  static <T> T readInStage(byte[] answer, Decoder<T> decoder) {
    try {
      return read(answer, decoder);
    } catch (DirectoryException e) {
      throw new CompletionException(e);
    }
  }

  /** The failure of a future, out of its wrappings. */
  static DirectoryException failure(Throwable thrown) {
    Throwable cause = thrown;
    while ((cause instanceof CompletionException || cause instanceof ExecutionException)
        && cause.getCause() != null) {
      cause = cause.getCause();
    }
    return cause instanceof DirectoryException known
        ? known
        : new DirectoryException(Reason.UNREACHABLE, "asking the driver failed: " + cause, cause);
  }

  /** A shared failure, with the stack of the thread that throws it now. */
  static DirectoryException again(DirectoryException shared) {
    return new DirectoryException(shared.reason(), shared.getMessage(), shared);
  }

  static DirectoryException closed() {
    return new DirectoryException(Reason.CLOSED, "the directory client is closed");
  }
}
