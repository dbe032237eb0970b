package io.rdmashuffle.store;

/**
 * The memory no longer holds the index block that was published there: the output was removed or
 * replaced. An ordinary thing; locate it anew or read over TCP.
 */
public final class StaleIndexException extends InvalidIndexException {
  private static final long serialVersionUID = 1L;

  StaleIndexException(String message) {
    super(message);
  }
}
