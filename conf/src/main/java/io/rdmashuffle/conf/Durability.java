package io.rdmashuffle.conf;

import java.util.Locale;

/** Where a map output is kept. */
public enum Durability {
  /** In registered memory; in files when the budget is short. */
  MEMORY,
  /** In registered memory, and in files soon after. */
  MEMORY_AND_DISK,
  /** In files. */
  DISK;

  /** Returns the name in settings, such as {@code memory-and-disk}. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
