package io.rdmashuffle.transport.verbs;

/** What kind of network a port is on; the number travels in endpoints. */
enum Fabric {
  INFINIBAND(1, "InfiniBand"),
  ROCE(2, "RoCE v2"),
  IWARP(3, "iWARP");

  private final int number;
  private final String text;

  Fabric(int number, String text) {
    this.number = number;
    this.text = text;
  }

  int number() {
    return number;
  }

  /** The fabric of a number, null for one we do not know. */
  static Fabric of(int number) {
    for (Fabric fabric : values()) {
      if (fabric.number == number) {
        return fabric;
      }
    }
    return null;
  }

  @Override
  public String toString() {
    return text;
  }
}
