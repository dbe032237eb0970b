package io.rdmashuffle.spark.directory;

/** A message that is malformed, too large, or of another version. */
final class DirectoryMessageException extends Exception {
  private static final long serialVersionUID = 1L;

  DirectoryMessageException(String message) {
    super(message);
  }

  DirectoryMessageException(String message, Throwable cause) {
    super(message, cause);
  }
}
