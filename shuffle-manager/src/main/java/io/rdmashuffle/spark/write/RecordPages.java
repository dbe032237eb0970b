package io.rdmashuffle.spark.write;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.apache.spark.memory.MemoryConsumer;
import org.apache.spark.memory.SparkOutOfMemoryError;
import org.apache.spark.memory.TaskMemoryManager;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.array.LongArray;
import org.apache.spark.unsafe.memory.MemoryBlock;
import org.apache.spark.util.collection.unsafe.sort.RadixSort;

/**
 * Serialized records of one map task in pages of task memory, and an array of pointers by which
 * they are sorted by partition.
 *
 * <p>A record is written straight into the current page between {@link #begin} and {@link #end}.
 * One that does not fit is collected on the heap first and goes to a new page: that happens once
 * per page, and for records larger than a page.
 *
 * <p>When the task is short of memory everything is spilled at once through the {@link Spiller}.
 * Other consumers of the task may ask for that too: they are heard when they call on the owner's
 * thread between two records, as an operator upstream does.
 *
 * <p>Belongs to the task's thread, which is the one that creates it. {@link #free} gives everything
 * back; it is the owner's to call.
 */
final class RecordPages extends MemoryConsumer {
  /** Takes the records away when the task is short of memory. */
  @FunctionalInterface
  interface Spiller {
    /**
     * Writes the records somewhere else; their memory is freed after the call.
     *
     * @param freedBytes memory that this will free
     */
    void spill(SortedRecords records, long freedBytes) throws IOException;
  }

  private static final int HEADER = Integer.BYTES;
  private static final boolean IS_BIG_ENDIAN = ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN;

  private static final int FIRST_OVERFLOW = 4 << 10;
  private static final int MOST_OVERFLOW = Integer.MAX_VALUE - 64;

  /** Pointers at first; kept across spills, so that there is always room for some. */
  private static final int FIRST_POINTERS = 4096;

  /** 2 GiB of pointers: then a spill is better than an array that hardly fits anywhere. */
  private static final long MOST_POINTERS = 1L << 28;

  /** Less than the task may have in all, since other consumers need pages too. */
  private static final int MOST_PAGES = PackedPointer.MAX_PAGES - 512;

  private final Spiller spiller;
  private final long pageLength;
  private final Thread owner = Thread.currentThread();
  private final RecordSink sink = new RecordSink();

  private MemoryBlock[] pages = new MemoryBlock[16];
  private int pageCount;

  // The page being filled: its number, and the addresses of the next byte and of its end.
  private int page = -1;
  private Object base;
  private long cursor;
  private long end;

  private long recordStart;
  private byte[] overflow = new byte[FIRST_OVERFLOW];
  private int overflowLength;
  private boolean isOverflowing;

  private LongArray firstPointers;
  private LongArray pointers;
  private int count;
  private int capacity;

  // While a record is open or the records are being read nobody else may make us spill.
  private boolean isBusy;
  private long peakBytes;

  RecordPages(TaskMemoryManager memory, Spiller spiller) {
    this(memory, Math.min(PackedPointer.MAX_PAGE_LENGTH, memory.pageSizeBytes()), spiller);
  }

  private RecordPages(TaskMemoryManager memory, long pageLength, Spiller spiller) {
    super(memory, pageLength, memory.getTungstenMemoryMode());
    this.pageLength = pageLength;
    this.spiller = spiller;
  }

  /** Where the bytes of the open record go. The same for all records; needs no flush or close. */
  OutputStream stream() {
    return sink;
  }

  /** Opens a record. May spill those before. */
  void begin() throws IOException {
    if (count == capacity) {
      growPointers();
    }
    isBusy = true;
    recordStart = cursor;
    overflowLength = 0;
    isOverflowing = end - cursor < HEADER;
    if (!isOverflowing) {
      cursor += HEADER;
    }
  }

  /** Appends bytes to the open record, wherever they lie. */
  void append(Object source, long address, int length) {
    if (!isOverflowing && length > end - cursor) {
      startOverflow();
    }
    if (isOverflowing) {
      ensureOverflow(length);
      Platform.copyMemory(
          source, address, overflow, (long) Platform.BYTE_ARRAY_OFFSET + overflowLength, length);
      overflowLength += length;
    } else {
      Platform.copyMemory(source, address, base, cursor, length);
      cursor += length;
    }
  }

  /** Appends four bytes to the open record, the highest first. */
  void appendInt(int value) {
    if (isOverflowing || end - cursor < Integer.BYTES) {
      for (int shift = Integer.SIZE - Byte.SIZE; shift >= 0; shift -= Byte.SIZE) {
        sink.write(value >>> shift);
      }
    } else {
      Platform.putInt(base, cursor, IS_BIG_ENDIAN ? value : Integer.reverseBytes(value));
      cursor += Integer.BYTES;
    }
  }

  /** Ends the open record. May spill those before. */
  void end(int partition) throws IOException {
    long pointer;
    if (isOverflowing) {
      pointer = placeOverflow(partition);
    } else {
      Platform.putInt(base, recordStart, (int) (cursor - recordStart) - HEADER);
      pointer =
          PackedPointer.of(partition, page, (int) (recordStart - pages[page].getBaseOffset()));
    }
    pointers.set(count, pointer);
    count++;
    isBusy = false;
  }

  /** Adds a whole record. */
  void add(int partition, byte[] bytes, int length) throws IOException {
    begin();
    sink.write(bytes, 0, length);
    end(partition);
  }

  /**
   * The records in order of partition and, within one, of arrival. Valid until the next {@link
   * #begin} or {@link #free}; from now on other consumers cannot make this one spill.
   */
  SortedRecords sorted() {
    isBusy = true;
    if (count == 0) {
      return new SortedRecords(null, 0, 0, pages);
    }
    int from =
        RadixSort.sort(
            pointers,
            count,
            PackedPointer.FIRST_PARTITION_BYTE,
            PackedPointer.LAST_PARTITION_BYTE,
            false,
            false);
    return new SortedRecords(pointers, from, from + count, pages);
  }

  /** Most memory ever held. */
  long peakBytes() {
    peakBytes = Math.max(peakBytes, getUsed());
    return peakBytes;
  }

  /** Gives all memory back. Idempotent. */
  void free() {
    peakBytes();
    freeRecords();
    if (firstPointers != null) {
      freeArray(firstPointers);
      firstPointers = null;
    }
    pointers = null;
    capacity = 0;
    // A serializer that still flushes must not reach memory that is not ours any more.
    isOverflowing = true;
    overflowLength = 0;
  }

  @Override
  public long spill(long size, MemoryConsumer trigger) throws IOException {
    boolean isSafe = trigger == this || (!isBusy && Thread.currentThread() == owner);
    return count == 0 || !isSafe ? 0 : spillAll();
  }

  private long spillAll() throws IOException {
    boolean wasBusy = isBusy;
    peakBytes();
    long freedBytes = getUsed() - (long) Long.BYTES * firstPointers.size();
    spiller.spill(sorted(), freedBytes);
    isBusy = wasBusy;
    freeRecords();
    return freedBytes;
  }

  private void freeRecords() {
    for (int i = 0; i < pageCount; i++) {
      freePage(pages[i]);
      pages[i] = null;
    }
    pageCount = 0;
    page = -1;
    base = null;
    cursor = 0;
    end = 0;
    count = 0;
    if (pointers != firstPointers) {
      freeArray(pointers);
      usePointers(firstPointers);
    }
  }

  private void growPointers() throws IOException {
    if (pointers == null) {
      firstPointers = allocateArray(FIRST_POINTERS);
      usePointers(firstPointers);
      return;
    }
    LongArray larger = pointers.size() < MOST_POINTERS ? allocateLargerPointers() : null;
    if (larger == null) {
      if (count > 0) {
        spillAll();
      }
    } else if (count == 0) {
      // Spilled to get it; the first pointers will do for what comes.
      freeArray(larger);
    } else {
      Platform.copyMemory(
          pointers.getBaseObject(),
          pointers.getBaseOffset(),
          larger.getBaseObject(),
          larger.getBaseOffset(),
          (long) Long.BYTES * count);
      if (pointers != firstPointers) {
        freeArray(pointers);
      }
      usePointers(larger);
    }
  }

  /** Null when there is no memory for it. */
  private LongArray allocateLargerPointers() {
    try {
      return allocateArray(2 * pointers.size());
    } catch (SparkOutOfMemoryError e) {
      return null;
    }
  }

  private void usePointers(LongArray array) {
    pointers = array;
    // The radix sort needs the other half.
    capacity = array == null ? 0 : (int) (array.size() / 2);
  }

  private long placeOverflow(int partition) throws IOException {
    long required = (long) HEADER + overflowLength;
    if (required > pageLength) {
      // A page of its own; the current one is filled further.
      int own = addPage(required);
      MemoryBlock block = pages[own];
      putOverflow(block.getBaseObject(), block.getBaseOffset());
      overflow = new byte[FIRST_OVERFLOW];
      return PackedPointer.of(partition, own, 0);
    }
    if (required > end - cursor) {
      page = addPage(required);
      base = pages[page].getBaseObject();
      cursor = pages[page].getBaseOffset();
      end = cursor + Math.min(pages[page].size(), PackedPointer.MAX_PAGE_LENGTH);
    }
    long start = cursor;
    putOverflow(base, start);
    cursor += required;
    return PackedPointer.of(partition, page, (int) (start - pages[page].getBaseOffset()));
  }

  private void putOverflow(Object target, long address) {
    Platform.putInt(target, address, overflowLength);
    Platform.copyMemory(
        overflow, Platform.BYTE_ARRAY_OFFSET, target, address + HEADER, overflowLength);
  }

  private int addPage(long required) throws IOException {
    if (pageCount == MOST_PAGES) {
      spillAll();
    }
    // Spills when the task has no more; then this page is the first.
    MemoryBlock block = allocatePage(required);
    if (pageCount == pages.length) {
      pages = Arrays.copyOf(pages, 2 * pages.length);
    }
    pages[pageCount] = block;
    return pageCount++;
  }

  private void startOverflow() {
    int written = (int) (cursor - recordStart) - HEADER;
    ensureOverflow(written);
    Platform.copyMemory(base, recordStart + HEADER, overflow, Platform.BYTE_ARRAY_OFFSET, written);
    overflowLength = written;
    isOverflowing = true;
    cursor = recordStart;
  }

  private void ensureOverflow(int more) {
    int needed = Math.addExact(overflowLength, more);
    if (needed > overflow.length) {
      long larger = Math.min(Math.max(2L * overflow.length, needed), MOST_OVERFLOW);
      overflow = Arrays.copyOf(overflow, (int) Math.max(larger, needed));
    }
  }

  private final class RecordSink extends OutputStream {
    @Override
    public void write(int value) {
      if (!isOverflowing && cursor == end) {
        startOverflow();
      }
      if (isOverflowing) {
        ensureOverflow(1);
        overflow[overflowLength++] = (byte) value;
      } else {
        Platform.putByte(base, cursor, (byte) value);
        cursor++;
      }
    }

    @Override
    public void write(byte[] bytes, int offset, int length) {
      append(bytes, (long) Platform.BYTE_ARRAY_OFFSET + offset, length);
    }
  }
}
