package io.rdmashuffle.store.model;

/**
 * One step of the owner of memory.
 *
 * @param kind what it does
 * @param word of memory that is stored to
 * @param value that is stored
 */
record OwnerStep(Kind kind, int word, int value) {
  enum Kind {
    /** Stores; other stores may become visible before it and after it. */
    STORE,
    /** Stores; what was stored before is visible no later. */
    RELEASE,
    /** Waits until all that was stored is visible. */
    FENCE,
    /** Tells readers where the next output lies. */
    ANNOUNCE,
    /** The quarantine begins. */
    BEGIN_QUARANTINE,
    /** The quarantine ends: reads that were being served at its beginning are over. */
    END_QUARANTINE
  }

  static OwnerStep store(int word, int value) {
    return new OwnerStep(Kind.STORE, word, value);
  }

  static OwnerStep release(int word, int value) {
    return new OwnerStep(Kind.RELEASE, word, value);
  }

  static OwnerStep of(Kind kind) {
    return new OwnerStep(kind, 0, 0);
  }

  boolean isStore() {
    return kind == Kind.STORE || kind == Kind.RELEASE;
  }

  @Override
  public String toString() {
    return isStore() ? kind + " word " + word + "=" + value : kind.toString();
  }
}
