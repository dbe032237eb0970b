package io.rdmashuffle.store;

import java.io.IOException;

/**
 * The memory budget admits no more bytes now. Nothing of the call that failed was written; what was
 * written before is intact. An ordinary thing: the map output goes to files.
 */
public final class BudgetSpentException extends IOException {
  private static final long serialVersionUID = 1L;

  BudgetSpentException(String message) {
    super(message);
  }
}
