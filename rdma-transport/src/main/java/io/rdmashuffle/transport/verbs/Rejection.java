package io.rdmashuffle.transport.verbs;

/** Why a listener says no; the number travels. */
enum Rejection {
  UNKNOWN(0, "no reason that this version knows"),
  NOT_OURS(1, "it does not understand our request: another program or version listens there"),
  WRONG_PROOF(2, "our proof is wrong: the token is not that of the process that listens there"),
  TOO_MANY(3, "it has as many connections as it accepts, or too many strangers ask"),
  NO_RESOURCES(4, "it could not create a queue pair");

  private final int number;
  private final String text;

  Rejection(int number, String text) {
    this.number = number;
    this.text = text;
  }

  int number() {
    return number;
  }

  static Rejection of(int number) {
    for (Rejection rejection : values()) {
      if (rejection.number == number) {
        return rejection;
      }
    }
    return UNKNOWN;
  }

  /** What to tell whoever wanted to connect. */
  String text() {
    return text;
  }
}
