package io.rdmashuffle.transport.verbs;

/** The native library cannot be used; the message says why and what to do. */
final class NativeLibraryException extends Exception {
  private static final long serialVersionUID = 1L;

  NativeLibraryException(String message) {
    super(message);
  }

  NativeLibraryException(String message, Throwable cause) {
    super(message, cause);
  }
}
