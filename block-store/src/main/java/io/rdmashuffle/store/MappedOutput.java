package io.rdmashuffle.store;

import java.util.List;

/** A map output in a file that peers read one-sided. Owned by its {@link MappedOutputs}. */
public final class MappedOutput {
  private final int shuffleId;
  private final long mapTaskId;
  private final List<Slab> windows;
  private final Extent index;
  private final IndexLocation location;
  private final long length;

  // Guarded by the lock of the owner.
  private boolean isAnnounced;

  MappedOutput(OutputLayout layout, List<Slab> windows, Extent index, IndexLocation location) {
    this.shuffleId = layout.shuffleId();
    this.mapTaskId = layout.mapTaskId();
    this.windows = windows;
    this.index = index;
    this.location = location;
    this.length = layout.length();
  }

  public int shuffleId() {
    return shuffleId;
  }

  public long mapTaskId() {
    return mapTaskId;
  }

  /** Where peers find the index block. */
  public IndexLocation location() {
    return location;
  }

  /** Bytes of the file. */
  long length() {
    return length;
  }

  /** The file, in order, in as many pieces as it takes. */
  List<Slab> windows() {
    return windows;
  }

  Extent index() {
    return index;
  }

  boolean isAnnounced() {
    return isAnnounced;
  }

  void setAnnounced() {
    isAnnounced = true;
  }

  /** Closes the registrations, then the mappings and the file. */
  void unmap() {
    unmap(windows);
  }

  /** The same for windows of which no output came to be. */
  static void unmap(List<Slab> windows) {
    windows.forEach(Slab::closeRegistrations);
    windows.forEach(Slab::closeMemory);
  }
}
