package io.rdmashuffle.spark.read;

import io.rdmashuffle.spark.FallbackReason;
import io.rdmashuffle.spark.directory.SlabRecord;
import io.rdmashuffle.store.IndexBlock;
import io.rdmashuffle.store.IndexHeader;
import io.rdmashuffle.store.IndexLocation;
import io.rdmashuffle.store.PieceVisitor;
import io.rdmashuffle.store.ReceiveBuffer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Blocks of one request that are read together. The data comes first, behind it the generation of
 * every index block it rests on: a generation that is still the published one was read after the
 * data it vouches for, so the data was not freed, let alone reused, before it was read. What fails
 * the check is not delivered.
 *
 * <p>Filled by one thread; ended once, on a thread of the transport or the one that posted it.
 */
final class DataGroup implements ReadGroup.Outcome, PieceVisitor {
  private static final Logger LOG = LoggerFactory.getLogger(DataGroup.class);

  static final String DETAIL_OF_STALE = "the map output was freed while it was read";

  /** Enough bytes to spread the cost of a batch, few enough to pipeline. */
  private static final long FULL_BYTES = 2L << 20;

  private final FetchRequest request;
  private final RequestedBlocks blocks;
  private final ReadGroup reads;
  private final IntList members = new IntList();
  private long dataBytes;

  /** The block that is being added. */
  private int adding;

  /** Why it cannot be read; null when it can. */
  private FallbackReason refusal;

  DataGroup(FetchRequest request) {
    this.request = request;
    blocks = request.blocks();
    reads = request.newGroup(this);
  }

  /** Adds a block, or refuses it when a piece of it cannot be read. */
  void add(int block, FallbackCollector refused) {
    int readsBefore = reads.size();
    refusal = null;
    adding = block;
    try {
      request
          .index(block)
          .forEachPiece(blocks.startPartition(block), blocks.endPartition(block), this);
    } catch (RuntimeException e) {
      refusal = FallbackReason.BAD_INDEX; // whatever it was, the block must not get lost
    }
    if (refusal == null) {
      members.add(block);
      dataBytes += length(block);
    } else {
      reads.truncate(readsBefore);
      request.refuse(block, refusal, refused);
    }
  }

  @Override
  public void onPiece(int slabId, int offset, int length) {
    if (refusal != null) {
      return;
    }
    SlabRecord memory = request.memoryOf(adding, slabId);
    refusal = request.whyUnreadable(adding, memory, offset, length);
    if (refusal == null) {
      reads.add(memory, offset, length);
    }
  }

  boolean isFull() {
    return dataBytes >= request.fullBytes(FULL_BYTES)
        || reads.size() + members.size() >= request.fullReads();
  }

  /** Posts the reads, if any block was added. */
  void submit() {
    if (members.size() == 0) {
      return;
    }
    for (int i = 0; i < members.size(); i++) {
      if (isFirstOfOutput(i)) {
        IndexLocation location = request.location(members.get(i));
        SlabRecord slab = request.record().slab(location.slabId());
        reads.add(slab, location.offset() + IndexHeader.GENERATION_POSITION, Long.BYTES);
      }
    }
    request.submit(reads);
  }

  @Override
  public void onRead(ReceiveBuffer buffer) {
    FallbackCollector refused = request.newCollector();
    try {
      request.onReadSucceeded();
      deliverAll(buffer, refused);
    } finally {
      buffer.release();
    }
    refused.flush();
  }

  private void deliverAll(ReceiveBuffer buffer, FallbackCollector refused) {
    long position = 0;
    long generationPosition = dataBytes;
    boolean isCurrent = false;
    for (int i = 0; i < members.size(); i++) {
      int block = members.get(i);
      if (isFirstOfOutput(i)) {
        isCurrent =
            Buffers.longAt(buffer, generationPosition) == request.location(block).generation();
        generationPosition += Long.BYTES;
      }
      long length = length(block);
      if (isCurrent) {
        deliver(block, buffer, position, length);
      } else {
        onStale(block, refused);
      }
      position += length;
    }
  }

  @Override
  public void onFailure(ReadGroup.Failure failure) {
    request.onReadFailed(failure);
    FallbackCollector refused = request.newCollector();
    for (int i = 0; i < members.size(); i++) {
      refused.add(blocks.name(members.get(i)), failure.reason(), failure.detail());
    }
    refused.flush();
  }

  @Override
  public void onError(Throwable error) {
    for (int i = 0; i < members.size(); i++) {
      request.fail(members.get(i), error);
    }
  }

  private void deliver(int block, ReceiveBuffer buffer, long position, long length) {
    ReadServices services = request.services();
    if (services.verifiesChecksums() && !isIntact(block, buffer, position, length)) {
      request.refetch(block);
      return;
    }
    services.accounting().onBlockRead(request.link().way(), length);
    ReceivedBlock received = new ReceivedBlock(buffer, position, length);
    try {
      request.source().listener().onBlockFetchSuccess(blocks.name(block), received);
    } catch (RuntimeException e) {
      // The listener has been told; the other blocks of the group are no worse for it.
      LOG.error("the listener of {} failed", blocks.name(block), e);
    } finally {
      received.release();
    }
  }

  private boolean isIntact(int block, ReceiveBuffer buffer, long position, long length) {
    return BlockChecksums.match(
        request.index(block),
        blocks.startPartition(block),
        blocks.endPartition(block),
        Buffers.slices(buffer, position, length));
  }

  private void onStale(int block, FallbackCollector refused) {
    request.dropIndex(block);
    refused.add(blocks.name(block), FallbackReason.STALE, DETAIL_OF_STALE);
  }

  private long length(int block) {
    IndexBlock index = request.index(block);
    return index.length(blocks.startPartition(block), blocks.endPartition(block));
  }

  private boolean isFirstOfOutput(int member) {
    return member == 0
        || blocks.mapTaskId(members.get(member)) != blocks.mapTaskId(members.get(member - 1));
  }
}
