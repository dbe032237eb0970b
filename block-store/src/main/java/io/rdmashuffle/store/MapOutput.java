package io.rdmashuffle.store;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A committed map output in slab memory. Owned by its {@link BlockStore}, which may void it at any
 * time; its memory is not used again before the last {@link #pin()} was undone.
 *
 * <p>Partition lengths and checksums are read from the index block rather than kept twice. All
 * methods may be called from any thread; those that read the memory throw {@link
 * IllegalStateException} once the output is gone, unless the caller holds a pin.
 */
public final class MapOutput {
  private final SlabPool pool;
  private final int shuffleId;
  private final long mapTaskId;
  private final int numPartitions;
  private final ChecksumAlgorithm checksumAlgorithm;
  private final IndexLocation location;
  private final ExtentChain extents;
  private final Extent indexExtent;
  private final ByteBuffer indexSlab;

  // Pins, and one for the store until the output is removed; at 0 the memory is given back.
  private final AtomicInteger references = new AtomicInteger(1);

  /** Takes over the extents, and publishes the index block that was written. */
  MapOutput(
      SlabPool pool,
      int shuffleId,
      long mapTaskId,
      int numPartitions,
      ChecksumAlgorithm checksumAlgorithm,
      IndexLocation location,
      ExtentChain extents,
      Extent indexExtent) {
    this.pool = pool;
    this.shuffleId = shuffleId;
    this.mapTaskId = mapTaskId;
    this.numPartitions = numPartitions;
    this.checksumAlgorithm = checksumAlgorithm;
    this.location = location;
    this.extents = extents;
    this.indexExtent = indexExtent;
    this.indexSlab = indexExtent.slab().buffer();
    Generations.publish(indexSlab, location.offset(), location.generation());
  }

  public int shuffleId() {
    return shuffleId;
  }

  public long mapTaskId() {
    return mapTaskId;
  }

  public int numPartitions() {
    return numPartitions;
  }

  public ChecksumAlgorithm checksumAlgorithm() {
    return checksumAlgorithm;
  }

  /** Where peers find the index block. */
  public IndexLocation location() {
    return location;
  }

  /** Bytes of all partitions. */
  public long length() {
    return extents.length();
  }

  /** Bytes of one partition. */
  public long partitionLength(int partition) {
    Objects.checkIndex(partition, numPartitions);
    pinOrThrow();
    try {
      return offset(partition + 1) - offset(partition);
    } finally {
      unpin();
    }
  }

  /** The checksum of each partition; empty when there are none. */
  public long[] checksums() {
    long[] checksums = new long[checksumAlgorithm == ChecksumAlgorithm.NONE ? 0 : numPartitions];
    pinOrThrow();
    try {
      for (int i = 0; i < checksums.length; i++) {
        checksums[i] = indexLong(numPartitions + 1L + i);
      }
    } finally {
      unpin();
    }
    return checksums;
  }

  /**
   * The bytes of the partitions from {@code start} up to and not including {@code end}, as
   * read-only views of slab memory: none when they are empty, several when they span extents.
   *
   * <p>The caller holds a {@link #pin()} for as long as it touches the views.
   */
  public List<ByteBuffer> slices(int start, int end) {
    Objects.checkFromToIndex(start, end, numPartitions);
    pinOrThrow();
    try {
      List<ByteBuffer> slices = new ArrayList<>(1);
      extents.addSlices(offset(start), offset(end), slices);
      return slices;
    } finally {
      unpin();
    }
  }

  /**
   * Keeps the memory as it is until {@link #unpin()}, even if the output is removed.
   *
   * @return false when it is removed and its memory given back already
   */
  public boolean pin() {
    int seen = references.get();
    while (seen > 0) {
      if (references.compareAndSet(seen, seen + 1)) {
        return true;
      }
      seen = references.get();
    }
    return false;
  }

  /** Undoes one {@link #pin()}. */
  public void unpin() {
    int left = references.decrementAndGet();
    if (left < 0) {
      throw new IllegalStateException("unpinned more often than pinned: " + this);
    }
    if (left == 0) {
      retire();
    }
  }

  /**
   * Voids the generation, so that no peer trusts what it reads from here on, and only then lets the
   * memory go. Called once, by the store.
   */
  void remove() {
    Generations.voidAt(indexSlab, location.offset());
    unpin();
  }

  private void retire() {
    boolean isIndexApart = true;
    for (int i = 0; i < extents.size(); i++) {
      isIndexApart &= extents.extent(i) != indexExtent;
      pool.retire(extents.extent(i));
    }
    if (isIndexApart) {
      pool.retire(indexExtent);
    }
  }

  private void pinOrThrow() {
    if (!pin()) {
      throw new IllegalStateException("removed: " + this);
    }
  }

  private long offset(int partition) {
    return indexLong(partition);
  }

  /** The n-th 8-byte word behind the header: the offsets, then the checksums. */
  private long indexLong(long index) {
    return indexSlab.getLong((int) (location.offset() + IndexHeader.LENGTH + Long.BYTES * index));
  }

  @Override
  public String toString() {
    return "map task " + mapTaskId + " of shuffle " + shuffleId + ", " + length() + " bytes";
  }
}
