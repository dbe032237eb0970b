package io.rdmashuffle.chaos;

/** Something cannot be injected on this machine, or not now; the message says why. */
final class ImpossibleException extends Exception {
  private static final long serialVersionUID = 1L;

  ImpossibleException(String why) {
    super(why);
  }
}
