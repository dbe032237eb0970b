package io.rdmashuffle.store;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.WritableByteChannel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * Appends the partitions of one attempt of a map task to slab memory.
 *
 * <p>Order of calls: {@link #startPartition} with increasing numbers, each followed by any number
 * of writes; partitions left out are empty. Then exactly one of {@link #commit} and {@link #abort};
 * {@link #close()} aborts what is not committed. When a write throws {@link BudgetSpentException},
 * the caller reads back what is there with {@link #forEachWritten}, and aborts.
 *
 * <p>Belongs to one thread. Until commit nobody else knows of the bytes.
 */
public final class MapOutputBuilder implements AutoCloseable {
  /** What {@link #forEachWritten} tells of. */
  @FunctionalInterface
  public interface WrittenBytes {
    /**
     * Called for each run of bytes.
     *
     * @param partition which the bytes belong to; not decreasing
     * @param bytes read-only, valid during the call
     */
    void onBytes(int partition, ByteBuffer bytes) throws IOException;
  }

  private enum State {
    OPEN,
    COMMITTED,
    ABORTED
  }

  /** The first extent: small, so that a small output wastes little while it is written. */
  static final int FIRST_CHUNK = 64 << 10;

  /** Extents double up to this: few for a large output, and trimmed at commit anyway. */
  static final int LARGEST_CHUNK = 4 << 20;

  /** A run shorter than this costs more in reads than the memory is worth. */
  static final int SMALLEST_CHUNK = 16 << 10;

  private static final long[] NO_CHECKSUMS = {};

  private final BlockStore store;
  private final SlabPool pool;
  private final long attempt;
  private final int shuffleId;
  private final long mapTaskId;
  private final int numPartitions;

  // Offsets are known up to and including currentPartition.
  private final long[] offsets;
  private int currentPartition = -1;

  // The extents before the current one are full; those behind it are reserved and unused.
  private final List<Extent> extents = new ArrayList<>();
  private int currentExtent = -1;
  private int nextChunk = FIRST_CHUNK;
  private long capacity;
  private long length;

  // Where the next byte goes within the current extent.
  private ByteBuffer buffer;
  private int position;
  private int limit;

  private State state = State.OPEN;

  /**
   * @param attempt number by which the store knows the builder
   */
  MapOutputBuilder(
      BlockStore store,
      SlabPool pool,
      long attempt,
      int shuffleId,
      long mapTaskId,
      int numPartitions) {
    this.store = store;
    this.pool = pool;
    this.attempt = attempt;
    this.shuffleId = shuffleId;
    this.mapTaskId = mapTaskId;
    this.numPartitions = numPartitions;
    this.offsets = new long[numPartitions + 1];
  }

  /**
   * Ends the current partition and starts another; what is written from now on belongs to it.
   *
   * @param partition greater than the current one
   */
  public void startPartition(int partition) {
    checkOpen();
    Objects.checkIndex(partition, numPartitions);
    if (partition <= currentPartition) {
      throw new IllegalArgumentException(
          "partition=" + partition + " after " + currentPartition + ": must increase");
    }
    Arrays.fill(offsets, currentPartition + 1, partition + 1, length);
    currentPartition = partition;
  }

  /** The partition that writes go to, -1 before the first. */
  public int currentPartition() {
    return currentPartition;
  }

  public void write(byte[] source, int offset, int count) throws BudgetSpentException {
    checkWritable();
    Objects.checkFromIndexSize(offset, count, source.length);
    reserve(count);
    int from = offset;
    int left = count;
    while (left > 0) {
      int run = Math.min(left, writableRun());
      buffer.put(position, source, from, run);
      advance(run);
      from += run;
      left -= run;
    }
  }

  /** Writes what remains in the source, and moves its position to its limit. */
  public void write(ByteBuffer source) throws BudgetSpentException {
    checkWritable();
    reserve(source.remaining());
    while (source.hasRemaining()) {
      int run = Math.min(source.remaining(), writableRun());
      buffer.put(position, source, source.position(), run);
      source.position(source.position() + run);
      advance(run);
    }
  }

  /**
   * Writes one byte.
   *
   * @param value of which the lowest 8 bits are written
   */
  public void writeByte(int value) throws BudgetSpentException {
    checkWritable();
    if (position == limit) {
      reserve(1);
      writableRun();
    }
    buffer.put(position, (byte) value);
    advance(1);
  }

  /**
   * A stream into the current partition. It is closed when it is told to, and when the next
   * partition starts; closing it does nothing else. Flushing does nothing: bytes are in place.
   */
  public OutputStream outputStream() {
    checkWritable();
    return new PartitionSink();
  }

  /** Like {@link #outputStream()}, as a channel that always writes all that remains. */
  public WritableByteChannel channel() {
    checkWritable();
    return new PartitionSink();
  }

  /** Bytes written so far. */
  public long length() {
    return length;
  }

  /** Bytes of each partition; those not started yet are 0. Also after commit and abort. */
  public long[] partitionLengths() {
    long[] lengths = new long[numPartitions];
    for (int i = 0; i <= currentPartition; i++) {
      lengths[i] = (i == currentPartition ? length : offsets[i + 1]) - offsets[i];
    }
    return lengths;
  }

  /** Reads back everything written so far, in order; empty partitions are left out. */
  public void forEachWritten(WrittenBytes visitor) throws IOException {
    checkOpen();
    ExtentChain chain = new ExtentChain(usedExtents(), length);
    List<ByteBuffer> slices = new ArrayList<>();
    for (int i = 0; i <= currentPartition; i++) {
      chain.addSlices(offsets[i], i == currentPartition ? length : offsets[i + 1], slices);
      for (ByteBuffer slice : slices) {
        visitor.onBytes(i, slice);
      }
      slices.clear();
    }
  }

  /** Commits without checksums. */
  public MapOutput commit() throws BudgetSpentException {
    return commit(NO_CHECKSUMS, ChecksumAlgorithm.NONE);
  }

  /**
   * Writes the index block, gives unused memory back, and makes the output known to the store. It
   * replaces an output of the same map task. When its shuffle was removed, or the store closed,
   * since this builder was begun, then it is as if the removal had come right after the commit.
   *
   * @param checksums one per partition; empty with {@link ChecksumAlgorithm#NONE}
   * @throws BudgetSpentException when there is no memory for the index block; the builder is as it
   *     was before the call
   */
  public MapOutput commit(long[] checksums, ChecksumAlgorithm algorithm)
      throws BudgetSpentException {
    checkOpen();
    if (checksums.length != (algorithm == ChecksumAlgorithm.NONE ? 0 : numPartitions)) {
      throw new IllegalArgumentException(
          "checksums=" + checksums.length + " of " + algorithm + " for " + numPartitions);
    }
    Arrays.fill(offsets, currentPartition + 1, numPartitions + 1, length);
    freeUnusedExtents();
    IndexHeader header =
        new IndexHeader(
            Generations.VOID, shuffleId, mapTaskId, numPartitions, extents.size(), algorithm, 0);
    ExtentChain chain = new ExtentChain(extents, length);
    long indexLength = header.blockLength();
    Extent tail = extents.isEmpty() ? null : extents.get(extents.size() - 1);
    int indexOffset = alignLong(position);
    Extent indexExtent = tail;
    if (tail == null || !makeRoom(tail, indexOffset + indexLength)) {
      indexExtent = allocateForIndex(indexLength);
      indexOffset = indexExtent.offset();
    }
    trim(tail, indexExtent, (int) (indexOffset + indexLength));
    IndexBlock.encode(indexExtent.slab().buffer(), indexOffset, header, offsets, checksums, chain);
    IndexLocation location =
        new IndexLocation(
            indexExtent.slab().id(), indexOffset, (int) indexLength, Generations.next());
    MapOutput output =
        new MapOutput(
            pool, shuffleId, mapTaskId, numPartitions, algorithm, location, chain, indexExtent);
    state = State.COMMITTED;
    letGo();
    store.enter(attempt, output);
    return output;
  }

  /** Drops everything written; the memory can be used again at once. Idempotent. */
  public void abort() {
    if (state != State.OPEN) {
      return;
    }
    state = State.ABORTED;
    extents.forEach(pool::free);
    letGo();
    store.leave(attempt);
  }

  /** Aborts unless committed. */
  @Override
  public void close() {
    abort();
  }

  /** Sees to it that a write of so many bytes finds room, or has no effect. */
  private void reserve(long bytes) throws BudgetSpentException {
    long missing = bytes - (capacity - length);
    while (missing > 0) {
      missing -= grow(missing);
    }
  }

  private int grow(long missing) throws BudgetSpentException {
    long preferred = Math.max(nextChunk, Math.min(missing, LARGEST_CHUNK));
    long smallest = Math.min(SMALLEST_CHUNK, Math.max(1, pool.maxExtentLength()));
    nextChunk = Math.min(2 * nextChunk, LARGEST_CHUNK);
    int gained = 0;
    if (!extents.isEmpty()) {
      // One long extent is one read for the peer, two adjacent ones are two.
      gained = pool.extend(extents.get(extents.size() - 1), smallest, preferred);
    }
    if (gained == 0) {
      Extent extent = pool.allocate(smallest, preferred);
      if (extent == null) {
        throw budgetSpent(missing);
      }
      extents.add(extent);
      gained = extent.length();
    }
    capacity += gained;
    return gained;
  }

  /** Bytes that can be written at {@link #position}; moves on to the next extent when full. */
  private int writableRun() {
    if (position == limit) {
      Extent extent = currentExtent < 0 ? null : extents.get(currentExtent);
      if (extent == null || extent.end() == limit) {
        currentExtent++;
        extent = extents.get(currentExtent);
        buffer = extent.slab().buffer();
        position = extent.offset();
      }
      limit = extent.end();
    }
    return limit - position;
  }

  private void advance(int count) {
    position += count;
    length += count;
  }

  private List<Extent> usedExtents() {
    return extents.subList(0, currentExtent + 1);
  }

  private void freeUnusedExtents() {
    while (extents.size() > currentExtent + 1) {
      Extent unused = extents.remove(extents.size() - 1);
      capacity -= unused.length();
      pool.free(unused);
    }
  }

  /** Whether the slab holds bytes of the extent up to {@code end}, perhaps after extending it. */
  private boolean makeRoom(Extent extent, long end) {
    long missing = end - extent.end();
    if (missing <= 0) {
      return true;
    }
    int gained = pool.extend(extent, missing, missing);
    capacity += gained;
    return gained > 0;
  }

  private Extent allocateForIndex(long indexLength) throws BudgetSpentException {
    Extent extent = pool.allocate(indexLength, indexLength);
    if (extent == null) {
      throw budgetSpent(indexLength);
    }
    return extent;
  }

  private void trim(Extent tail, Extent indexExtent, int indexEnd) {
    if (tail != null) {
      int end = tail == indexExtent ? indexEnd : position;
      pool.trim(tail, end - tail.offset());
    }
  }

  private BudgetSpentException budgetSpent(long missing) {
    return new BudgetSpentException(
        "no memory for "
            + missing
            + " bytes more of map task "
            + mapTaskId
            + " of shuffle "
            + shuffleId
            + " behind "
            + length);
  }

  private void letGo() {
    extents.clear();
    buffer = null;
    position = 0;
    limit = 0;
  }

  private void checkOpen() {
    if (state != State.OPEN) {
      throw new IllegalStateException("map output is " + state);
    }
  }

  private void checkWritable() {
    checkOpen();
    if (currentPartition < 0) {
      throw new IllegalStateException("no partition was started");
    }
  }

  private static int alignLong(int position) {
    return (position + Long.BYTES - 1) & -Long.BYTES;
  }

  private final class PartitionSink extends OutputStream implements WritableByteChannel {
    private final int partition = currentPartition;
    private boolean isClosed;

    @Override
    public void write(int value) throws IOException {
      checkSinkOpen();
      writeByte(value);
    }

    @Override
    public void write(byte[] source, int offset, int count) throws IOException {
      checkSinkOpen();
      MapOutputBuilder.this.write(source, offset, count);
    }

    @Override
    public int write(ByteBuffer source) throws IOException {
      checkSinkOpen();
      int count = source.remaining();
      MapOutputBuilder.this.write(source);
      return count;
    }

    @Override
    public boolean isOpen() {
      return !isClosed && state == State.OPEN && partition == currentPartition;
    }

    @Override
    public void close() {
      isClosed = true;
    }

    private void checkSinkOpen() throws ClosedChannelException {
      if (!isOpen()) {
        throw new ClosedChannelException();
      }
    }
  }
}
