package io.rdmashuffle.spark.read;

import io.rdmashuffle.spark.FallbackReason;
import io.rdmashuffle.store.IndexBlock;
import io.rdmashuffle.store.IndexHeader;
import io.rdmashuffle.store.IndexLocation;
import io.rdmashuffle.store.InvalidIndexException;
import io.rdmashuffle.store.ReceiveBuffer;
import io.rdmashuffle.store.StaleIndexException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * Index blocks of one request that are read together. A small one is read whole, and kept in the
 * cache unless it leads to files. Of a large one, which would push many others out of the cache and
 * costs more to read than the data it leads to, the header is read first, then what concerns the
 * partitions asked for, with the header once more behind it to show that the rest was valid when it
 * was read.
 *
 * <p>Filled by one thread; ended once, on a thread of the transport or the one that posted it.
 */
final class IndexGroup implements ReadGroup.Outcome {
  /** Up to 4,000 partitions with checksums. */
  static final int MAX_WHOLE_BYTES = 64 << 10;

  /** Enough to spread the cost of a batch, a bound on what one group asks of receive memory. */
  private static final int FULL_BYTES = 1 << 20;

  /** A map output: its first block in the request, and what is read of its index block. */
  private final class Entry {
    final int block;

    /** As read before; null while it is not known. */
    final IndexHeader header;

    int bytes;

    Entry(int block, IndexHeader header) {
      this.block = block;
      this.header = header;
    }

    boolean isHeaderOnly() {
      return header == null && bytes < request.location(block).length();
    }

    void read(int offset, int length) {
      if (length > 0) {
        IndexLocation location = request.location(block);
        reads.add(
            request.record().slab(location.slabId()), (long) location.offset() + offset, length);
        bytes += length;
      }
    }
  }

  private final FetchRequest request;
  private final ReadGroup reads;
  private final List<Entry> entries = new ArrayList<>();

  IndexGroup(FetchRequest request) {
    this.request = request;
    reads = request.newGroup(this);
  }

  /**
   * Adds the index block of a map output, which lies within the peer's slabs.
   *
   * @param block first block of that output in the request
   */
  void add(int block) {
    Entry entry = new Entry(block, null);
    int length = request.location(block).length();
    entry.read(0, length <= MAX_WHOLE_BYTES ? length : IndexHeader.LENGTH);
    entries.add(entry);
  }

  /** Adds the parts of a large index block that the blocks of its map output need. */
  private void addSlice(int block, IndexHeader header) {
    Entry entry = new Entry(block, header);
    int start = request.startOfOutput(block);
    int end = request.endOfOutput(block);
    Objects.checkFromToIndex(start, end, header.numPartitions());
    int offsets = header.offsetPosition(start);
    entry.read(offsets, header.offsetPosition(end + 1) - offsets);
    int checksums = header.checksumPosition(start);
    entry.read(checksums, header.checksumPosition(end) - checksums);
    entry.read(header.extentsPosition(), header.extentsLength());
    entry.read(0, IndexHeader.LENGTH);
    entries.add(entry);
  }

  boolean isFull() {
    return reads.totalBytes() >= request.fullBytes(FULL_BYTES)
        || reads.size() >= request.fullReads();
  }

  /** Posts the reads, if there are any. */
  void submit() {
    if (!entries.isEmpty()) {
      request.submit(reads);
    }
  }

  @Override
  public void onRead(ReceiveBuffer buffer) {
    FallbackCollector refused = request.newCollector();
    IndexGroup slices = new IndexGroup(request);
    IntList decoded = new IntList();
    try {
      request.onReadSucceeded();
      decodeAll(buffer, slices, decoded, refused);
    } finally {
      buffer.release();
    }
    slices.submit();
    request.readData(decoded);
    refused.flush();
  }

  private void decodeAll(
      ReceiveBuffer buffer, IndexGroup slices, IntList decoded, FallbackCollector refused) {
    long position = 0;
    for (Entry entry : entries) {
      try {
        ByteBuffer bytes =
            Buffers.join(Buffers.slices(buffer, position, entry.bytes), entry.bytes)
                .slice()
                .order(ByteOrder.LITTLE_ENDIAN);
        if (entry.isHeaderOnly()) {
          slices.addSlice(entry.block, headerFor(entry, bytes, 0));
        } else {
          request.useIndex(entry.block, decode(entry, bytes));
          decoded.add(entry.block);
        }
      } catch (StaleIndexException e) {
        request.refuseOutput(entry.block, FallbackReason.STALE, e.getMessage(), refused);
      } catch (InvalidIndexException e) {
        request.refuseOutput(entry.block, FallbackReason.BAD_INDEX, e.getMessage(), refused);
      } catch (RuntimeException e) { // partitions that are not there, for example
        request.refuseOutput(entry.block, FallbackReason.BAD_INDEX, e.toString(), refused);
      }
      position += entry.bytes;
    }
  }

  private IndexHeader headerFor(Entry entry, ByteBuffer bytes, int position)
      throws InvalidIndexException {
    RequestedBlocks blocks = request.blocks();
    return IndexHeader.decode(
        bytes,
        position,
        request.location(entry.block),
        blocks.shuffleId(),
        blocks.mapTaskId(entry.block),
        IndexHeader.numPartitionsOf(bytes, position));
  }

  private IndexBlock decode(Entry entry, ByteBuffer bytes) throws InvalidIndexException {
    if (entry.header == null) {
      IndexHeader header = headerFor(entry, bytes, 0);
      IndexBlock whole =
          IndexBlock.decode(
              bytes,
              0,
              request.location(entry.block),
              header.shuffleId(),
              header.mapTaskId(),
              header.numPartitions(),
              request::slabLength);
      if (!header.isInFiles()) { // the owner gives files up, and reading them then is an error
        request.services().indexCache().put(request.source().executorId(), whole);
      }
      return whole;
    }
    IndexHeader header = headerFor(entry, bytes, entry.bytes - IndexHeader.LENGTH);
    if (!header.equals(entry.header)) {
      throw new IllegalStateException("the header changed under the same generation");
    }
    int start = request.startOfOutput(entry.block);
    int end = request.endOfOutput(entry.block);
    int checksums = header.offsetPosition(end + 1) - header.offsetPosition(start);
    int extents = checksums + header.checksumPosition(end) - header.checksumPosition(start);
    return IndexBlock.decodeSlice(
        header, start, end, bytes, 0, checksums, extents, request::slabLength);
  }

  @Override
  public void onFailure(ReadGroup.Failure failure) {
    request.onReadFailed(failure);
    FallbackCollector refused = request.newCollector();
    for (Entry entry : entries) {
      request.refuseOutput(entry.block, failure.reason(), failure.detail(), refused);
    }
    refused.flush();
  }

  @Override
  public void onError(Throwable error) {
    for (Entry entry : entries) {
      request.failOutput(entry.block, error);
    }
  }
}
