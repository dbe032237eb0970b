package io.rdmashuffle.store;

import java.util.List;

/**
 * The slabs of a pool at one moment. Slabs are only ever added, so a table of a higher version
 * contains every lower one.
 *
 * @param version number of slabs added so far
 * @param slabs in the order in which they were added
 */
public record SlabTable(long version, List<SlabDescriptor> slabs) {
  static final SlabTable EMPTY = new SlabTable(0, List.of());

  public SlabTable {
    slabs = List.copyOf(slabs);
  }
}
