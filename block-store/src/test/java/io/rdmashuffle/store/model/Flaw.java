package io.rdmashuffle.store.model;

/** A part of the protocol that is left out or done wrong; each must lead to a stale delivery. */
enum Flaw {
  /** The owner does not void the generation. */
  NO_VOID,
  /** The owner voids only once the memory holds something else. */
  VOID_AFTER_REUSE,
  /** The void may become visible later than what is written after it. */
  NO_FENCE,
  /** The generation may become visible before the output it vouches for. */
  PUBLISHED_WITHOUT_RELEASE,
  /** Readers are told of an output before it is whole. */
  ANNOUNCED_EARLY,
  /** The next output gets the generation of the one before. */
  GENERATION_REPEATED,
  /** The reader trusts the generation that it saw in the index block. */
  NO_SECOND_LOOK,
  /** The reader looks at the generation again before it reads the data. */
  SECOND_LOOK_FIRST,
  /** The reads of a batch are served in any order, for longer than the quarantine. */
  READS_OUTLAST_QUARANTINE
}
