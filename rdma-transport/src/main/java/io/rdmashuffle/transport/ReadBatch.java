package io.rdmashuffle.transport;

/**
 * A list of one-sided reads that are posted together and complete together: for each, where the
 * bytes lie at the peer, how many, and where they go here.
 *
 * <p>Reusable and allocated once: {@link #reset} empties it, and it grows no arrays afterwards. Not
 * thread-safe: it belongs to whoever fills it until it is offered, then to the connection, and to
 * the listener once that is called.
 */
public final class ReadBatch {
  private final long[] remoteAddresses;
  private final int[] remoteKeys;
  private final int[] lengths;
  private final int[] localOffsets;
  private final RegisteredSlab[] localSlabs;
  private int size;
  private long totalBytes;
  private long deadlineNs;

  /**
   * @param capacity most reads the batch can hold, at least 1
   */
  public ReadBatch(int capacity) {
    if (capacity < 1) {
      throw new IllegalArgumentException("capacity=" + capacity + " < 1");
    }
    remoteAddresses = new long[capacity];
    remoteKeys = new int[capacity];
    lengths = new int[capacity];
    localOffsets = new int[capacity];
    localSlabs = new RegisteredSlab[capacity];
  }

  /**
   * Empties the batch for reuse.
   *
   * @param deadline when the reads must be done
   */
  public ReadBatch reset(Deadline deadline) {
    for (int i = 0; i < size; i++) {
      localSlabs[i] = null;
    }
    size = 0;
    totalBytes = 0;
    deadlineNs = deadline.deadlineNs();
    return this;
  }

  /**
   * Adds a read.
   *
   * @param remoteAddress {@link RegisteredSlab#remoteAddress()} of the peer's slab plus the offset
   *     within it
   * @param remoteKey {@link RegisteredSlab#remoteKey()} of the peer's slab
   * @param length bytes to read, at least 1
   * @param localSlab where the bytes go; registered with {@link Access#LOCAL_WRITE}
   * @param localOffset offset within that slab, in bytes
   * @throws IllegalStateException when the batch is full
   */
  public ReadBatch add(
      long remoteAddress, int remoteKey, int length, RegisteredSlab localSlab, int localOffset) {
    if (size == lengths.length) {
      throw new IllegalStateException("batch is full: capacity=" + lengths.length);
    }
    if (length < 1 || localOffset < 0 || localOffset > localSlab.slab().length() - length) {
      throw new IllegalArgumentException(
          "length="
              + length
              + " localOffset="
              + localOffset
              + " does not lie within a slab of "
              + localSlab.slab().length()
              + " bytes");
    }
    remoteAddresses[size] = remoteAddress;
    remoteKeys[size] = remoteKey;
    lengths[size] = length;
    localSlabs[size] = localSlab;
    localOffsets[size] = localOffset;
    size++;
    totalBytes += length;
    return this;
  }

  public int capacity() {
    return lengths.length;
  }

  public int size() {
    return size;
  }

  /** Sum of the lengths, in bytes. */
  public long totalBytes() {
    return totalBytes;
  }

  /** When the reads must be done, on the clock of {@link System#nanoTime()}. */
  public long deadlineNs() {
    return deadlineNs;
  }

  public long remoteAddress(int index) {
    return remoteAddresses[index];
  }

  public int remoteKey(int index) {
    return remoteKeys[index];
  }

  public int length(int index) {
    return lengths[index];
  }

  public RegisteredSlab localSlab(int index) {
    return localSlabs[index];
  }

  public int localOffset(int index) {
    return localOffsets[index];
  }
}
