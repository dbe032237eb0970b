package io.rdmashuffle.store;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Memory that reads of our own land in: usually one run of a slab, several when the pool is
 * fragmented or the buffer is longer than a slab. Counts references: whoever allocated it holds
 * one, and the last {@link #release()} gives the memory back at once, so nothing may write to it
 * any more by then.
 */
public final class ReceiveBuffer {
  private final ReceivePool pool;
  private final long length;
  private final Extent[] extents;
  // Extent i holds the bytes [starts[i], starts[i + 1]) of the buffer.
  private final long[] starts;
  private final AtomicInteger references = new AtomicInteger(1);

  ReceiveBuffer(ReceivePool pool, List<Extent> extents, long length) {
    this.pool = pool;
    this.length = length;
    this.extents = extents.toArray(Extent[]::new);
    starts = new long[this.extents.length + 1];
    for (int i = 0; i < this.extents.length; i++) {
      starts[i + 1] = starts[i] + this.extents[i].length();
    }
  }

  /** Bytes asked for. */
  public long length() {
    return length;
  }

  /** Number of runs the buffer consists of. */
  public int runCount() {
    return extents.length;
  }

  /** The slab that holds a byte of the buffer. */
  public Slab slabAt(long offset) {
    return extents[runAt(offset)].slab();
  }

  /** Where in its slab a byte of the buffer lies. */
  public int slabOffsetAt(long offset) {
    int run = runAt(offset);
    return (int) (extents[run].offset() + (offset - starts[run]));
  }

  /** Bytes of the buffer that lie in one run from {@code offset} on, at least 1. */
  public int contiguousAt(long offset) {
    return (int) (Math.min(length, starts[runAt(offset) + 1]) - offset);
  }

  /**
   * Views of a part of the buffer, one for each run it touches. The caller holds a reference for as
   * long as it touches them.
   */
  public List<ByteBuffer> slices(long offset, long count) {
    Objects.checkFromIndexSize(offset, count, length);
    List<ByteBuffer> slices = new ArrayList<>(1);
    long at = offset;
    while (at < offset + count) {
      int run = (int) Math.min(contiguousAt(at), offset + count - at);
      slices.add(slabAt(at).buffer().slice(slabOffsetAt(at), run));
      at += run;
    }
    return slices;
  }

  /** Takes one more reference; the caller holds one already. */
  public ReceiveBuffer retain() {
    int before = references.getAndIncrement();
    if (before < 1) {
      references.getAndDecrement();
      throw new IllegalStateException("released already");
    }
    return this;
  }

  /** Gives a reference up; the last one gives the memory back. */
  public void release() {
    int left = references.decrementAndGet();
    if (left < 0) {
      references.getAndIncrement();
      throw new IllegalStateException("released more often than retained");
    }
    if (left == 0) {
      pool.takeBack(extents);
    }
  }

  private int runAt(long offset) {
    Objects.checkIndex(offset, length);
    if (extents.length == 1) {
      return 0;
    }
    int found = Arrays.binarySearch(starts, offset);
    return found >= 0 ? found : -found - 2;
  }
}
