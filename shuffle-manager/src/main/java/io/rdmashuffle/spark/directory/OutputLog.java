package io.rdmashuffle.spark.directory;

import java.util.Arrays;

/**
 * The publications to one shuffle, in the order they came. Append-only, five longs each, in chunks,
 * so that no entry is ever moved and readers need no lock: a reader sees {@link #size()} first and
 * then everything below it.
 *
 * <p>Publications of lost executors stay, and readers skip them: the log of a shuffle is dropped as
 * a whole, and until then positions must keep their meaning.
 */
final class OutputLog {
  /** Longs of one entry; also the layout of {@link LocatePage}. */
  static final int WORDS = 5;

  static final int MAP_TASK_ID = 0;
  static final int GENERATION = 1;
  static final int OFFSET = 2;

  /** Executor in the upper half, slab in the lower. */
  static final int EXECUTOR_AND_SLAB = 3;

  static final int INDEX_LENGTH = 4;

  private static final int CHUNK_ENTRIES = 1_024;
  private static final int FIRST_CHUNK_ENTRIES = 16;

  private final HeapBudget budget;
  private volatile long[][] chunks = {};
  private volatile int size;
  private long reservedBytes; // guarded by this
  private boolean dropped; // guarded by this

  OutputLog(HeapBudget budget) {
    this.budget = budget;
  }

  /** What became of an {@link #append}. */
  enum Appended {
    YES,
    FULL,
    OVER_BUDGET,
    DROPPED
  }

  synchronized Appended append(int executorIndex, OutputRecord output, int maxEntries) {
    if (dropped) {
      return Appended.DROPPED;
    }
    int position = size;
    if (position >= maxEntries) {
      return Appended.FULL;
    }
    if (!makeRoom(position)) {
      return Appended.OVER_BUDGET;
    }
    long[] chunk = chunks[position / CHUNK_ENTRIES];
    int word = position % CHUNK_ENTRIES * WORDS;
    chunk[word + MAP_TASK_ID] = output.mapTaskId();
    chunk[word + GENERATION] = output.generation();
    chunk[word + OFFSET] = output.offset();
    chunk[word + EXECUTOR_AND_SLAB] = pack(executorIndex, output.slabId());
    chunk[word + INDEX_LENGTH] = output.indexLength();
    size = position + 1;
    return Appended.YES;
  }

  private boolean makeRoom(int position) {
    long[][] current = chunks;
    int chunkIndex = position / CHUNK_ENTRIES;
    if (chunkIndex < current.length
        && position % CHUNK_ENTRIES * WORDS < current[chunkIndex].length) {
      return true;
    }
    // Only the first chunk starts small and grows, since many shuffles have few outputs.
    boolean grows = chunkIndex < current.length;
    int entries = CHUNK_ENTRIES;
    if (chunkIndex == 0) {
      entries = grows ? current[0].length / WORDS * 4 : FIRST_CHUNK_ENTRIES;
    }
    long bytes = (entries - (grows ? position : 0)) * (long) WORDS * Long.BYTES;
    if (!budget.tryReserve(bytes)) {
      return false;
    }
    reservedBytes += bytes;
    long[][] next = grows ? current.clone() : Arrays.copyOf(current, current.length + 1);
    next[chunkIndex] =
        grows ? Arrays.copyOf(current[0], entries * WORDS) : new long[entries * WORDS];
    chunks = next;
    return true;
  }

  /** Gives the memory back; later appends are refused, readers that hold the log may finish. */
  synchronized void drop() {
    if (!dropped) {
      dropped = true;
      chunks = new long[0][];
      size = 0;
      budget.release(reservedBytes);
      reservedBytes = 0;
    }
  }

  /** Entries that a reader may see. */
  int size() {
    return size;
  }

  /** The chunks as they are now; every position below a size read before lies in them. */
  long[][] chunks() {
    return chunks;
  }

  static long[] chunkOf(long[][] chunks, int position) {
    return chunks[position / CHUNK_ENTRIES];
  }

  static int wordOf(int position) {
    return position % CHUNK_ENTRIES * WORDS;
  }

  static long pack(int upper, int lower) {
    return ((long) upper << 32) | (lower & 0xFFFF_FFFFL);
  }

  static int upper(long packed) {
    return (int) (packed >>> 32);
  }

  static int lower(long packed) {
    return (int) packed;
  }
}
