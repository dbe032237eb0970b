package io.rdmashuffle.store;

/**
 * A run of bytes within one slab, lent by a {@link SlabPool}. It begins at a multiple of {@link
 * SlabPool#ALIGNMENT} and is one long. Owned by whoever allocated it, who gives it back exactly
 * once; not thread-safe beyond what the owner sees to.
 */
public final class Extent {
  /** LENT belongs to its owner, LINGERING to peers that may still read it, GONE to the pool. */
  enum State {
    LENT,
    LINGERING,
    GONE
  }

  private final Slab slab;
  private final int offset;

  // Written under the pool's lock, on the owner's behalf.
  int length;
  State state = State.LENT;

  Extent(Slab slab, int offset, int length) {
    this.slab = slab;
    this.offset = offset;
    this.length = length;
  }

  public Slab slab() {
    return slab;
  }

  /** Where the extent begins, in bytes from the start of the slab. */
  public int offset() {
    return offset;
  }

  /** Bytes of the extent. */
  public int length() {
    return length;
  }

  /** Where the extent ends, exclusive, in bytes from the start of the slab. */
  int end() {
    return offset + length;
  }

  @Override
  public String toString() {
    return "extent [" + offset + ", " + end() + ") of slab " + slab.id() + ", " + state;
  }
}
