package io.rdmashuffle.spark.read;

import io.rdmashuffle.spark.FallbackReason;
import io.rdmashuffle.spark.directory.DirectoryException;
import io.rdmashuffle.spark.directory.Located;
import io.rdmashuffle.spark.directory.PeerRecord;
import io.rdmashuffle.spark.directory.SlabRecord;
import io.rdmashuffle.spark.read.PeerConnector.Link;
import io.rdmashuffle.spark.read.PeerConnector.NoLinkException;
import io.rdmashuffle.store.IndexBlock;
import io.rdmashuffle.store.IndexHeader;
import io.rdmashuffle.store.IndexLocation;
import io.rdmashuffle.store.InvalidIndexException;
import io.rdmashuffle.store.ReceiveBuffer;
import io.rdmashuffle.store.ReceivePool;
import io.rdmashuffle.store.StaleIndexException;
import io.rdmashuffle.transport.Deadline;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.BitSet;
import java.util.concurrent.CompletableFuture;

/**
 * One request for blocks of one executor, from names to bytes.
 *
 * <p>In this order: where the map outputs lie (directory); a connection; the index blocks that are
 * not cached, all in one go; the data, in {@linkplain DataGroup groups} of bounded size. At every
 * step, blocks that cannot go on are handed to TCP with their reason; each block is handed to Spark
 * or to TCP exactly once.
 *
 * <p>Started on a task's thread; over a transport that completes inline it ends there too, else the
 * later steps run on the transport's thread and never block. The steps follow each other, so the
 * fields need no lock: what one step wrote, the next sees through the transport's hand-over.
 */
final class FetchRequest {
  private final ReadServices services;
  private final TcpFallback tcp;
  private final PeerTable peers;
  private final BlockSource source;
  private final RequestedBlocks blocks;

  private final IndexLocation[] locations;
  private final IndexBlock[] indexes;

  /** Blocks still to be read one-sided. */
  private final BitSet wanted;

  private PeerRecord record;
  private Peer peer;
  private Link link;

  FetchRequest(
      ReadServices services,
      TcpFallback tcp,
      PeerTable peers,
      BlockSource source,
      RequestedBlocks blocks) {
    this.services = services;
    this.tcp = tcp;
    this.peers = peers;
    this.source = source;
    this.blocks = blocks;
    locations = new IndexLocation[blocks.size()];
    indexes = new IndexBlock[blocks.size()];
    wanted = new BitSet(blocks.size());
    wanted.set(0, blocks.size());
  }

  /**
   * Starts the request; called once, on a thread that may wait for the driver within a deadline.
   */
  void start() {
    if (!locate() || wanted.isEmpty()) {
      return;
    }
    CompletableFuture<Link> unused =
        peer.connector()
            .link()
            .whenComplete(
                (made, failure) -> {
                  if (failure == null) {
                    link = made;
                    readIndexes();
                  } else {
                    onNoLink(failure);
                  }
                });
  }

  private void onNoLink(Throwable failure) {
    if (failure instanceof NoLinkException noLink) {
      fallBackAll(noLink.reason(), noLink.getMessage());
    } else {
      fallBackAll(FallbackReason.CONNECT_REJECTED, failure.toString());
    }
  }

  // ---- where the map outputs lie

  private boolean locate() {
    Deadline deadline = Deadline.after(services.locateTimeout());
    try {
      services.directory().ensureLocated(blocks.shuffleId(), blocks.mapTaskIds(), deadline);
      record = services.directory().peer(source.executorId(), deadline);
    } catch (DirectoryException e) {
      fallBackAll(FallbackReason.LOCATION_UNKNOWN, e.getMessage());
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      fallBackAll(FallbackReason.LOCATION_UNKNOWN, "the task was interrupted");
      return false;
    }
    if (record == null) {
      fallBackAll(FallbackReason.PEER_UNKNOWN, "the driver knows no such executor");
      return false;
    }
    FallbackCollector refused = new FallbackCollector(tcp, source);
    Located located = new Located();
    for (int i = 0; i < blocks.size(); i++) {
      if (isSameOutputAsPrevious(i)) {
        locations[i] = locations[i - 1];
      } else if (services.directory().lookup(blocks.shuffleId(), blocks.mapTaskId(i), located)
          && located.executorId().equals(source.executorId())) {
        locations[i] =
            new IndexLocation(
                located.slabId(),
                (int) located.offset(),
                located.indexLength(),
                located.generation());
      }
      refuseUnlessInMemory(i, refused);
    }
    refused.flush();
    peer = peers.peer(record);
    return true;
  }

  private void refuseUnlessInMemory(int block, FallbackCollector refused) {
    IndexLocation location = locations[block];
    if (location == null && record.executor().slabs().isEmpty()) {
      refuse(
          block, FallbackReason.FILE_TIER, "the executor keeps no map output in memory", refused);
    } else if (location == null) {
      refuse(
          block, FallbackReason.LOCATION_UNKNOWN, "the driver lists no such map output", refused);
    } else if (location.slabId() == Located.IN_FILES) {
      refuse(block, FallbackReason.FILE_TIER, "the map output is in files", refused);
    }
  }

  /** Blocks of one map output come one behind the other; what concerns it is looked up once. */
  private boolean isSameOutputAsPrevious(int block) {
    return block > 0 && blocks.mapTaskId(block) == blocks.mapTaskId(block - 1);
  }

  // ---- index blocks

  private void readIndexes() {
    FallbackCollector refused = new FallbackCollector(tcp, source);
    IntList toRead = new IntList();
    ReadGroup group =
        newGroup(
            new ReadGroup.Outcome() {
              @Override
              public void onRead(ReadGroup group, ReceiveBuffer buffer) {
                onGroupEnded(group);
                decodeIndexes(toRead, buffer);
                buffer.release();
                readData();
              }

              @Override
              public void onFailure(ReadGroup group, FallbackReason reason, String detail) {
                onGroupFailed(group, reason, detail);
                fallBackAll(reason, detail);
              }
            });
    for (int i = wanted.nextSetBit(0); i >= 0; i = wanted.nextSetBit(i + 1)) {
      indexes[i] = isSameOutputAsPrevious(i) ? null : cachedIndex(i);
      if (indexes[i] == null && !isSameOutputAsPrevious(i)) {
        IndexLocation location = locations[i];
        SlabRecord slab =
            readableSlab(i, location.slabId(), location.offset(), location.length(), refused);
        if (slab != null) {
          group.add(slab, location.offset(), location.length());
          toRead.add(i);
        }
      }
    }
    refused.flush();
    if (group.size() == 0) {
      readData();
    } else {
      submit(group);
    }
  }

  private IndexBlock cachedIndex(int block) {
    return services
        .indexCache()
        .get(
            source.executorId(),
            blocks.shuffleId(),
            blocks.mapTaskId(block),
            locations[block].generation());
  }

  private void decodeIndexes(IntList read, ReceiveBuffer buffer) {
    FallbackCollector refused = new FallbackCollector(tcp, source);
    long position = 0;
    for (int i = 0; i < read.size(); i++) {
      int block = read.get(i);
      int length = locations[block].length();
      ByteBuffer bytes = Buffers.join(Buffers.slices(buffer, position, length), length);
      position += length;
      try {
        indexes[block] = decode(block, bytes.order(ByteOrder.LITTLE_ENDIAN));
        services.indexCache().put(source.executorId(), indexes[block]);
      } catch (StaleIndexException e) {
        refuse(block, FallbackReason.STALE, e.getMessage(), refused);
      } catch (InvalidIndexException e) {
        refuse(block, FallbackReason.BAD_INDEX, e.getMessage(), refused);
      }
    }
    refused.flush();
  }

  private IndexBlock decode(int block, ByteBuffer bytes) throws InvalidIndexException {
    return IndexBlock.decode(
        bytes,
        bytes.position(),
        locations[block],
        blocks.shuffleId(),
        blocks.mapTaskId(block),
        IndexHeader.numPartitionsOf(bytes, bytes.position()),
        slabId -> {
          SlabRecord slab = record.slab(slabId);
          return slab == null ? 0 : (int) slab.length();
        });
  }

  // ---- data

  private void readData() {
    FallbackCollector refused = new FallbackCollector(tcp, source);
    DataGroup group = new DataGroup(this);
    for (int i = wanted.nextSetBit(0); i >= 0; i = wanted.nextSetBit(i + 1)) {
      if (isSameOutputAsPrevious(i)) {
        indexes[i] = indexes[i - 1];
      }
      if (indexes[i] == null || blocks.endPartition(i) > indexes[i].endPartition()) {
        refuse(i, FallbackReason.BAD_INDEX, "the map output has no such partition", refused);
      } else if (arePiecesReadable(i, refused)) {
        group.add(i);
        if (group.isFull()) {
          group.submit();
          group = new DataGroup(this);
        }
      }
    }
    refused.flush();
    group.submit();
  }

  private boolean arePiecesReadable(int block, FallbackCollector refused) {
    boolean[] isReadable = {true};
    indexes[block].forEachPiece(
        blocks.startPartition(block),
        blocks.endPartition(block),
        (slabId, offset, length) -> {
          if (isReadable[0]) {
            isReadable[0] = readableSlab(block, slabId, offset, length, refused) != null;
          }
        });
    return isReadable[0];
  }

  // ---- what the steps share

  /** The peer's slab, if what is to be read lies within it and can be read over this link. */
  private SlabRecord readableSlab(
      int block, int slabId, long offset, long length, FallbackCollector refused) {
    SlabRecord slab = record.slab(slabId);
    if (slab == null || offset < 0 || length <= 0 || offset > slab.length() - length) {
      refuse(block, FallbackReason.BAD_INDEX, "it points outside the executor's slabs", refused);
      return null;
    }
    if (slab.key(link.transport().name()) == null) {
      String detail = "the executor could not register the slab for " + link.transport().name();
      refuse(block, FallbackReason.QP_SETUP_FAILED, detail, refused);
      return null;
    }
    return slab;
  }

  ReadGroup newGroup(ReadGroup.Outcome outcome) {
    return new ReadGroup(
        link.transport(),
        services.batches(link.transport()),
        services.maxReadBytes(link.transport()),
        outcome);
  }

  /** Gives the group memory, now or when some is free, and posts it. */
  void submit(ReadGroup group) {
    ReceiveBuffer buffer = services.receivePool().tryAllocate(group.totalBytes());
    if (buffer != null) {
      post(group, buffer);
      return;
    }
    boolean canBeMet =
        services
            .receivePool()
            .allocate(
                group.totalBytes(), Deadline.after(services.readTimeout()), new LateBuffer(group));
    if (!canBeMet) {
      failForMemory(group);
    }
  }

  /**
   * Memory becomes free on the threads of other tasks, which have their own work to do, so what
   * follows runs elsewhere.
   */
  private final class LateBuffer implements ReceivePool.Waiter {
    private final ReadGroup group;

    LateBuffer(ReadGroup group) {
      this.group = group;
    }

    @Override
    public void onBuffer(ReceiveBuffer buffer) {
      services.continuations().execute(() -> post(group, buffer));
    }

    @Override
    public void onExpired() {
      services.continuations().execute(() -> failForMemory(group));
    }
  }

  private void failForMemory(ReadGroup group) {
    group.fail(
        FallbackReason.NO_RECEIVE_BUFFER,
        group.totalBytes() + " bytes, see spark.shuffle.rdma.memory.receiveSize");
  }

  private void post(ReadGroup group, ReceiveBuffer buffer) {
    group.useBuffer(buffer);
    if (link.connection().completesInline()) {
      group.post(link.connection(), Deadline.after(services.readTimeout()));
    } else {
      peer.flight().submit(group, link);
    }
  }

  /** A group that was posted ended well. */
  void onGroupEnded(ReadGroup group) {
    peer.flight().onEnded(group);
    peer.connector().onReadSucceeded();
  }

  /** A group ended badly, in flight or before. */
  void onGroupFailed(ReadGroup group, FallbackReason reason, String detail) {
    peer.flight().onEnded(group);
    if (reason != FallbackReason.NO_RECEIVE_BUFFER) {
      peer.connector().onReadFailed(link.connection(), reason, detail);
    }
  }

  private void refuse(int block, FallbackReason reason, String detail, FallbackCollector refused) {
    wanted.clear(block);
    refused.add(blocks.name(block), reason, detail);
  }

  private void fallBackAll(FallbackReason reason, String detail) {
    FallbackCollector refused = new FallbackCollector(tcp, source);
    for (int i = wanted.nextSetBit(0); i >= 0; i = wanted.nextSetBit(i + 1)) {
      refuse(i, reason, detail, refused);
    }
    refused.flush();
  }

  FallbackCollector newCollector() {
    return new FallbackCollector(tcp, source);
  }

  ReadServices services() {
    return services;
  }

  RequestedBlocks blocks() {
    return blocks;
  }

  BlockSource source() {
    return source;
  }

  PeerRecord record() {
    return record;
  }

  Link link() {
    return link;
  }

  IndexBlock index(int block) {
    return indexes[block];
  }

  IndexLocation location(int block) {
    return locations[block];
  }
}
