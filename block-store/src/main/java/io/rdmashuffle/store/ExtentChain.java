package io.rdmashuffle.store;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;

/** The bytes of a map output in order: extents, all used to their end but the last. Immutable. */
final class ExtentChain {
  private final Extent[] extents;
  // Extent i holds the bytes [starts[i], starts[i + 1]).
  private final long[] starts;

  /**
   * @param extents those that hold bytes, in order
   * @param length bytes in all; ends within the last extent
   */
  ExtentChain(List<Extent> extents, long length) {
    this.extents = extents.toArray(Extent[]::new);
    starts = new long[this.extents.length + 1];
    for (int i = 0; i < this.extents.length; i++) {
      starts[i + 1] = Math.min(length, starts[i] + this.extents[i].length());
    }
    if (starts[this.extents.length] != length) {
      throw new IllegalStateException(
          "length=" + length + " but the extents hold " + starts[this.extents.length]);
    }
  }

  int size() {
    return extents.length;
  }

  long length() {
    return starts[extents.length];
  }

  Slab slab(int index) {
    return extents[index].slab();
  }

  int offset(int index) {
    return extents[index].offset();
  }

  int usedLength(int index) {
    return (int) (starts[index + 1] - starts[index]);
  }

  Extent extent(int index) {
    return extents[index];
  }

  /** Adds read-only views of the bytes from {@code from} up to and not including {@code to}. */
  void addSlices(long from, long to, List<ByteBuffer> slices) {
    int found = Arrays.binarySearch(starts, from);
    long at = from;
    for (int i = found >= 0 ? found : -found - 2; at < to; i++) {
      int length = (int) (Math.min(to, starts[i + 1]) - at);
      int offset = (int) (extents[i].offset() + (at - starts[i]));
      slices.add(extents[i].slab().buffer().slice(offset, length).asReadOnlyBuffer());
      at += length;
    }
  }
}
