package io.rdmashuffle.spark.read;

import io.rdmashuffle.spark.FallbackReason;
import io.rdmashuffle.spark.ReadAccounting.Way;
import io.rdmashuffle.store.IndexBlock;
import io.rdmashuffle.store.IndexHeader;
import io.rdmashuffle.store.IndexLocation;
import io.rdmashuffle.store.ReceiveBuffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Blocks of one request that are read together. The data comes first, behind it the generation of
 * every index block it rests on: a generation that is still the published one was read after the
 * data it vouches for, so the data was not freed, let alone reused, before it was read. What fails
 * the check is not delivered.
 *
 * <p>Filled by one thread; ended once, on a thread of the transport or the one that posted it.
 */
final class DataGroup implements ReadGroup.Outcome {
  /** Enough bytes to spread the cost of a batch, few enough to pipeline. */
  private static final long FULL_BYTES = 2L << 20;

  private final FetchRequest request;
  private final RequestedBlocks blocks;
  private final ReadGroup reads;
  private final int fullReads;
  private final IntList members = new IntList();
  private long dataBytes;

  DataGroup(FetchRequest request) {
    this.request = request;
    blocks = request.blocks();
    reads = request.newGroup(this);
    fullReads = Math.max(2, request.services().maxReadsInFlightPerPeer() / 2);
  }

  /** Adds a block whose pieces lie within the peer's slabs. */
  void add(int block) {
    IndexBlock index = request.index(block);
    index.forEachPiece(
        blocks.startPartition(block),
        blocks.endPartition(block),
        (slabId, offset, length) -> reads.add(request.record().slab(slabId), offset, length));
    dataBytes += length(block);
    members.add(block);
  }

  boolean isFull() {
    return dataBytes >= FULL_BYTES || reads.size() + members.size() >= fullReads;
  }

  /** Posts the reads, if any block was added. */
  void submit() {
    if (members.size() == 0) {
      return;
    }
    for (int i = 0; i < members.size(); i++) {
      if (isFirstOfOutput(i)) {
        IndexLocation location = request.location(members.get(i));
        reads.add(
            request.record().slab(location.slabId()),
            location.offset() + IndexHeader.GENERATION_POSITION,
            Long.BYTES);
      }
    }
    request.submit(reads);
  }

  @Override
  public void onRead(ReadGroup group, ReceiveBuffer buffer) {
    request.onGroupEnded(group);
    FallbackCollector refused = request.newCollector();
    long position = 0;
    long generationPosition = dataBytes;
    boolean isCurrent = false;
    for (int i = 0; i < members.size(); i++) {
      int block = members.get(i);
      if (isFirstOfOutput(i)) {
        isCurrent =
            generationAt(buffer, generationPosition) == request.location(block).generation();
        generationPosition += Long.BYTES;
      }
      long length = length(block);
      if (isCurrent) {
        deliver(block, buffer, position, length, refused);
      } else {
        onStale(block, refused);
      }
      position += length;
    }
    buffer.release();
    refused.flush();
  }

  @Override
  public void onFailure(ReadGroup group, FallbackReason reason, String detail) {
    request.onGroupFailed(group, reason, detail);
    FallbackCollector refused = request.newCollector();
    for (int i = 0; i < members.size(); i++) {
      refused.add(blocks.name(members.get(i)), reason, detail);
    }
    refused.flush();
  }

  private static long generationAt(ReceiveBuffer buffer, long position) {
    ByteBuffer[] slices = Buffers.slices(buffer, position, Long.BYTES);
    return Buffers.join(slices, Long.BYTES).order(ByteOrder.LITTLE_ENDIAN).getLong();
  }

  private void deliver(
      int block, ReceiveBuffer buffer, long position, long length, FallbackCollector refused) {
    ByteBuffer[] pieces = Buffers.slices(buffer, position, length);
    if (request.services().verifiesChecksums()
        && !BlockChecksums.match(
            request.index(block),
            blocks.startPartition(block),
            blocks.endPartition(block),
            pieces)) {
      refused.add(
          blocks.name(block),
          FallbackReason.CHECKSUM_MISMATCH,
          "the bytes read differ from the checksum in the index block");
      return;
    }
    ReadServices services = request.services();
    services.accounting().onBlockRead(Way.ofTransport(request.link().transport().name()), length);
    ReceivedBlock received = new ReceivedBlock(pieces, length, buffer);
    request.source().listener().onBlockFetchSuccess(blocks.name(block), received);
    received.release();
  }

  private void onStale(int block, FallbackCollector refused) {
    request
        .services()
        .indexCache()
        .drop(request.source().executorId(), blocks.shuffleId(), blocks.mapTaskId(block));
    refused.add(
        blocks.name(block), FallbackReason.STALE, "the map output was freed while it was read");
  }

  private long length(int block) {
    return request.index(block).length(blocks.startPartition(block), blocks.endPartition(block));
  }

  private boolean isFirstOfOutput(int member) {
    return member == 0
        || blocks.mapTaskId(members.get(member)) != blocks.mapTaskId(members.get(member - 1));
  }
}
