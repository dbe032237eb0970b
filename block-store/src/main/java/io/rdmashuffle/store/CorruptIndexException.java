package io.rdmashuffle.store;

/**
 * The index block has the generation that was published but contradicts itself, its location or the
 * peer's slabs. Never ordinary: a bug, or a peer that lies.
 */
public final class CorruptIndexException extends InvalidIndexException {
  private static final long serialVersionUID = 1L;

  CorruptIndexException(String message) {
    super(message);
  }
}
