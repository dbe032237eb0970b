package io.rdmashuffle.transport.verbs;

/**
 * The 64 bits that come back with a completion, from high to low: generation (24) and index (16) of
 * the connection, slot of the batch (12), index of the read within the batch (12). A completion of
 * a connection that is gone has an old generation.
 */
final class WorkRequestId {
  /** Most batches of a connection, and most reads of a batch. */
  static final int MAX_SLOTS = 1 << 12;

  static final int MAX_CONNECTIONS = 1 << 16;
  static final int GENERATION_MASK = (1 << 24) - 1;

  private WorkRequestId() {}

  static long pack(int connection, int generation, int slot, int read) {
    return (long) (generation & GENERATION_MASK) << 40
        | (long) connection << 24
        | (long) slot << 12
        | read;
  }

  static int generation(long id) {
    return (int) (id >>> 40);
  }

  static int connection(long id) {
    return (int) (id >>> 24) & (MAX_CONNECTIONS - 1);
  }

  static int slot(long id) {
    return (int) (id >>> 12) & (MAX_SLOTS - 1);
  }

  static int read(long id) {
    return (int) id & (MAX_SLOTS - 1);
  }
}
