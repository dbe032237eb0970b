package io.rdmashuffle.store;

/** Bytes that a peer served as an index block must not be used. */
public abstract sealed class InvalidIndexException extends Exception
    permits StaleIndexException, CorruptIndexException {
  private static final long serialVersionUID = 1L;

  InvalidIndexException(String message) {
    super(message);
  }
}
