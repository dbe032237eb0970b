package io.rdmashuffle.spark.directory;

/**
 * Map task id to the place of its index block, for one shuffle: open addressing over one array of
 * longs, in the layout of {@link OutputLog}. A slot is free while its index length is 0, which no
 * output has. Not thread-safe.
 */
final class LocationTable {
  private static final int WORDS = OutputLog.WORDS;
  private static final int INITIAL_SLOTS = 64;
  private static final int MAX_SLOTS = 1 << 27;

  private long[] words = {};
  private int slots;
  private int size;

  int size() {
    return size;
  }

  /** Bytes of heap the table takes. */
  long heapBytes() {
    return heapBytes(slots);
  }

  /** Bytes of heap the table takes once it has room for so many more; -1 when it cannot. */
  long heapBytesWith(int additional) {
    int needed = slotsFor(size + (long) additional);
    return needed < 0 ? -1 : heapBytes(needed);
  }

  private static long heapBytes(int slots) {
    return (long) slots * WORDS * Long.BYTES;
  }

  // At most three slots in five are taken.
  private int slotsFor(long entries) {
    long needed = Math.max(INITIAL_SLOTS, slots);
    while (needed * 3 < entries * 5) {
      needed *= 2;
    }
    return needed > MAX_SLOTS ? -1 : (int) needed;
  }

  /** Makes room, so that the next so many {@link #put} succeed. */
  void reserve(int additional) {
    int needed = slotsFor(size + (long) additional);
    if (needed == slots) {
      return;
    }
    long[] old = words;
    words = new long[needed * WORDS];
    slots = needed;
    for (int word = 0; word < old.length; word += WORDS) {
      if (old[word + OutputLog.INDEX_LENGTH] != 0) {
        System.arraycopy(old, word, words, slotOf(old[word + OutputLog.MAP_TASK_ID]), WORDS);
      }
    }
  }

  /** Copies an entry of a page, over an earlier one of the same map task. Needs room. */
  void put(LocatePage page, int entry, int ordinal) {
    long mapTaskId = page.mapTaskId(entry);
    int word = slotOf(mapTaskId);
    if (words[word + OutputLog.INDEX_LENGTH] == 0) {
      size++;
    }
    words[word + OutputLog.MAP_TASK_ID] = mapTaskId;
    words[word + OutputLog.GENERATION] = page.generation(entry);
    words[word + OutputLog.OFFSET] = page.offset(entry);
    words[word + OutputLog.EXECUTOR_AND_SLAB] = OutputLog.pack(ordinal, page.slabId(entry));
    words[word + OutputLog.INDEX_LENGTH] = page.indexLength(entry);
  }

  /** Handle of a map task's entry, or -1. Valid until the next change. */
  int find(long mapTaskId) {
    if (size == 0) {
      return -1;
    }
    int word = slotOf(mapTaskId);
    return words[word + OutputLog.INDEX_LENGTH] == 0 ? -1 : word;
  }

  /** Number of the executor that holds the entry. */
  int ordinal(int handle) {
    return OutputLog.upper(words[handle + OutputLog.EXECUTOR_AND_SLAB]);
  }

  void fill(int handle, String executorId, Located into) {
    into.set(
        executorId,
        OutputLog.lower(words[handle + OutputLog.EXECUTOR_AND_SLAB]),
        words[handle + OutputLog.OFFSET],
        (int) words[handle + OutputLog.INDEX_LENGTH],
        words[handle + OutputLog.GENERATION]);
  }

  /** Gives everything up. */
  void clear() {
    words = new long[0];
    slots = 0;
    size = 0;
  }

  // The map task's slot, or the free one where it belongs.
  private int slotOf(long mapTaskId) {
    int mask = slots - 1;
    long hash = mapTaskId * 0x9E37_79B9_7F4A_7C15L;
    int slot = (int) (hash >>> 32) & mask;
    while (words[slot * WORDS + OutputLog.INDEX_LENGTH] != 0
        && words[slot * WORDS + OutputLog.MAP_TASK_ID] != mapTaskId) {
      slot = (slot + 1) & mask;
    }
    return slot * WORDS;
  }
}
