package io.rdmashuffle.spark.write;

import java.io.IOException;
import java.io.OutputStream;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.array.LongArray;
import org.apache.spark.unsafe.memory.MemoryBlock;

/**
 * A cursor over sorted records, partition by partition. Reads the memory of {@link RecordPages},
 * which must not change meanwhile. Used by one thread.
 */
final class SortedRecords {
  static final int NONE = Integer.MAX_VALUE;

  private static final int HEADER = Integer.BYTES;

  private final LongArray pointers;
  private final MemoryBlock[] pages;
  private final int end;
  private int next;

  SortedRecords(LongArray pointers, int from, int end, MemoryBlock[] pages) {
    this.pointers = pointers;
    this.next = from;
    this.end = end;
    this.pages = pages;
  }

  /** The partition of the next record, {@link #NONE} behind the last. */
  int partition() {
    return next < end ? PackedPointer.partition(pointers.get(next)) : NONE;
  }

  /** Bytes of the next partition, or some number above {@code limit} when it has more. */
  long lengthUpTo(long limit) {
    int partition = partition();
    long length = 0;
    for (int i = next; i < end && length <= limit; i++) {
      long pointer = pointers.get(i);
      if (PackedPointer.partition(pointer) != partition) {
        break;
      }
      MemoryBlock page = pages[PackedPointer.page(pointer)];
      length +=
          Platform.getInt(
              page.getBaseObject(), page.getBaseOffset() + PackedPointer.offset(pointer));
    }
    return length;
  }

  /**
   * Writes the records of the next partition and moves behind them.
   *
   * @param buffer in which they are gathered, so that small ones do not go out one by one
   */
  void writePartition(OutputStream out, byte[] buffer) throws IOException {
    int partition = partition();
    int filled = 0;
    while (next < end) {
      long pointer = pointers.get(next);
      if (PackedPointer.partition(pointer) != partition) {
        break;
      }
      MemoryBlock page = pages[PackedPointer.page(pointer)];
      Object base = page.getBaseObject();
      long address = page.getBaseOffset() + PackedPointer.offset(pointer);
      int left = Platform.getInt(base, address);
      address += HEADER;
      while (left > 0) {
        if (filled == buffer.length) {
          out.write(buffer, 0, filled);
          filled = 0;
        }
        int run = Math.min(left, buffer.length - filled);
        Platform.copyMemory(base, address, buffer, (long) Platform.BYTE_ARRAY_OFFSET + filled, run);
        filled += run;
        address += run;
        left -= run;
      }
      next++;
    }
    out.write(buffer, 0, filled);
  }
}
