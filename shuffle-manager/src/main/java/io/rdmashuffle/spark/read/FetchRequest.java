package io.rdmashuffle.spark.read;

import io.rdmashuffle.spark.FallbackReason;
import io.rdmashuffle.spark.directory.DirectoryException;
import io.rdmashuffle.spark.directory.Located;
import io.rdmashuffle.spark.directory.PeerRecord;
import io.rdmashuffle.spark.directory.SlabRecord;
import io.rdmashuffle.spark.read.PeerConnector.Link;
import io.rdmashuffle.spark.read.PeerConnector.NoLinkException;
import io.rdmashuffle.store.IndexBlock;
import io.rdmashuffle.store.IndexLocation;
import io.rdmashuffle.store.ReceiveBuffer;
import io.rdmashuffle.store.ReceivePool;
import io.rdmashuffle.store.SlabDescriptor;
import io.rdmashuffle.transport.Deadline;
import io.rdmashuffle.transport.SlabMemory;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One request for blocks of one executor, from names to bytes.
 *
 * <p>In this order: where the map outputs lie (directory); a connection; the index blocks that are
 * not cached, in {@linkplain IndexGroup groups}; the data, in {@linkplain DataGroup groups} too,
 * both of bounded size, or {@linkplain FileBlockRead window by window} into a file. Every block is
 * at any time with exactly one step or group, which passes it on, or hands it to Spark, or to TCP
 * with the reason; so each is handed over exactly once.
 *
 * <p>Started on a task's thread; over a transport that completes inline it ends there too, else the
 * later steps run on the transport's thread and never block. Groups may end at the same time on
 * different threads. The arrays need no lock: a block's elements are touched by whom the block is
 * with, and blocks change hands through the transport or the receive pool.
 */
final class FetchRequest {
  private static final Logger LOG = LoggerFactory.getLogger(FetchRequest.class);

  private final ReadServices services;
  private final TcpFallback tcp;
  private final PeerTable peers;
  private final BlockSource source;
  private final RequestedBlocks blocks;

  private final IndexLocation[] locations;

  /** Set for the first block of each map output, see {@link #index}. */
  private final IndexBlock[] indexes;

  // Set once, before the first group is made.
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
  }

  /**
   * Starts the request; called once, on a thread that may wait for the driver within a deadline.
   */
  void start() {
    IntList outputs = locate();
    if (outputs.size() == 0) {
      return;
    }
    CompletableFuture<Link> unused =
        peer.connector()
            .link()
            .whenComplete((made, failure) -> onLinkTried(outputs, made, failure));
  }

  /** Throws nothing: nobody would hear of it, and the task would wait for its blocks for ever. */
  private void onLinkTried(IntList outputs, Link made, Throwable failure) {
    try {
      if (failure == null) {
        link = made;
        readIndexes(outputs);
      } else {
        onNoLink(outputs, failure);
      }
    } catch (RuntimeException | Error e) {
      LOG.error("a request for blocks of {} fails", source, e);
      for (int i = 0; i < outputs.size(); i++) {
        failOutput(outputs.get(i), e);
      }
    }
  }

  private void onNoLink(IntList outputs, Throwable failure) {
    FallbackReason reason =
        failure instanceof NoLinkException noLink
            ? noLink.reason()
            : FallbackReason.CONNECT_REJECTED;
    FallbackCollector refused = newCollector();
    for (int i = 0; i < outputs.size(); i++) {
      refuseOutput(outputs.get(i), reason, String.valueOf(failure.getMessage()), refused);
    }
    refused.flush();
  }

  // ---- where the map outputs lie

  /** The first block of each map output that can be read; all others have gone to TCP. */
  private IntList locate() {
    FallbackCollector refused = newCollector();
    IntList outputs = new IntList();
    Deadline deadline = Deadline.after(services.locateTimeout());
    FallbackReason reason = FallbackReason.LOCATION_UNKNOWN;
    String obstacle = null;
    try {
      services
          .directory()
          .ensureLocatedOn(source.executorId(), blocks.shuffleId(), blocks.mapTaskIds(), deadline);
      record = services.directory().peer(source.executorId(), deadline);
      if (record == null) {
        forgetPeer();
        reason = FallbackReason.PEER_UNKNOWN;
        obstacle = "the driver knows no such executor";
      }
    } catch (DirectoryException e) {
      obstacle = e.getMessage();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      reason = FallbackReason.INTERRUPTED;
      obstacle = "the task was interrupted";
    }
    Located located = new Located();
    for (int i = 0; i < blocks.size(); i = endOfRun(i)) {
      if (obstacle != null) {
        refuseOutput(i, reason, obstacle, refused);
      } else if (isInMemory(i, located, refused)) {
        outputs.add(i);
      }
    }
    refused.flush();
    if (outputs.size() > 0) {
      peer = peers.peer(record);
    }
    return outputs;
  }

  /** The executor is gone, and what is kept of it is of no use. */
  private void forgetPeer() {
    peers.remove(source.executorId());
    services.indexCache().dropOwner(source.executorId());
  }

  private boolean isInMemory(int block, Located located, FallbackCollector refused) {
    boolean isLocated =
        services.directory().lookup(blocks.shuffleId(), blocks.mapTaskId(block), located)
            && located.executorId().equals(source.executorId());
    if (isLocated && located.slabId() != Located.IN_FILES) {
      locations[block] =
          new IndexLocation(
              located.slabId(),
              (int) located.offset(),
              located.indexLength(),
              located.generation());
      return true;
    }
    if (isLocated) {
      refuseOutput(block, FallbackReason.FILE_TIER, "the map output is in files", refused);
    } else if (record.executor().slabs().isEmpty()) {
      refuseOutput(
          block, FallbackReason.FILE_TIER, "the executor keeps no map output in memory", refused);
    } else {
      refuseOutput(
          block, FallbackReason.LOCATION_UNKNOWN, "the driver lists no such map output", refused);
    }
    return false;
  }

  // ---- index blocks

  private void readIndexes(IntList outputs) {
    FallbackCollector refused = newCollector();
    IntList cached = new IntList();
    IndexGroup group = new IndexGroup(this);
    for (int i = 0; i < outputs.size(); i++) {
      int block = outputs.get(i);
      IndexLocation location = locations[block];
      IndexBlock index =
          services
              .indexCache()
              .get(
                  source.executorId(),
                  blocks.shuffleId(),
                  blocks.mapTaskId(block),
                  location.generation());
      FallbackReason obstacle =
          whyUnreadable(record.slab(location.slabId()), location.offset(), location.length());
      if (obstacle != null) {
        refuseOutput(block, obstacle, detailOf(obstacle), refused);
      } else if (index != null) {
        useIndex(block, index);
        cached.add(block);
      } else {
        group.add(block);
        if (group.isFull()) {
          group.submit();
          group = new IndexGroup(this);
        }
      }
    }
    group.submit();
    readData(cached);
    refused.flush();
  }

  // ---- data

  /** Reads the blocks of map outputs whose index block is known. */
  void readData(IntList outputs) {
    FallbackCollector refused = newCollector();
    DataGroup group = new DataGroup(this);
    for (int i = 0; i < outputs.size(); i++) {
      int first = outputs.get(i);
      int end = endOfRun(first);
      for (int block = first; block < end; block++) {
        indexes[block] = indexes[first];
        locations[block] = locations[first];
        if (blocks.endPartition(block) > indexes[block].endPartition()) {
          refuse(block, FallbackReason.BAD_INDEX, refused);
        } else if (source.files() != null) {
          readToFile(block, refused);
        } else {
          group.add(block, refused);
        }
        if (group.isFull()) {
          group.submit();
          group = new DataGroup(this);
        }
      }
    }
    group.submit();
    refused.flush();
  }

  private void readToFile(int block, FallbackCollector refused) {
    if (!services.fileReads().start(this, block)) {
      refused.add(blocks.name(block), FallbackReason.READ_FAILED, "the plugin was stopped");
    }
  }

  // ---- what the steps share

  /** The bytes read of the block differ from its checksum: a second try, over TCP, is verified. */
  void refetch(int block) {
    BlockSource verified =
        source.withListener(
            new VerifyingListener(
                source.listener(),
                index(block),
                blocks.startPartition(block),
                blocks.endPartition(block)));
    tcp.fetchLater(
        verified,
        List.of(blocks.name(block)),
        FallbackReason.CHECKSUM_MISMATCH,
        "the bytes read differ from the checksum in the index block");
  }

  /** What is cached of the block's map output is of no use any more. */
  void dropIndex(int block) {
    services.indexCache().drop(source.executorId(), blocks.shuffleId(), blocks.mapTaskId(block));
  }

  /**
   * Where a piece of a block's map output lies.
   *
   * @return null when the peer has no such slab, and no such window of a file
   */
  SlabRecord memoryOf(int block, int slabId) {
    if (!index(block).header().isInFiles()) {
      return record.slab(slabId);
    }
    SlabDescriptor window = index(block).fileWindow(slabId);
    return window == null ? null : SlabRecord.of(window);
  }

  /** Why a piece of a block's map output cannot be read over this link; null when it can. */
  FallbackReason whyUnreadable(int block, SlabRecord memory, int offset, int length) {
    if (!index(block).header().isInFiles()) {
      return whyUnreadable(memory, offset, length);
    }
    // The index block vouches for the bounds.
    return memory == null || memory.key(link.transport().name()) == null
        ? FallbackReason.FILE_TIER
        : null;
  }

  /** Why bytes of a slab of the peer cannot be read over this link; null when they can. */
  private FallbackReason whyUnreadable(SlabRecord slab, long offset, long length) {
    if (slab == null
        || offset < SlabMemory.HEADER_LENGTH
        || length <= 0
        || offset > slab.length() - length) {
      return FallbackReason.BAD_INDEX;
    }
    return slab.key(link.transport().name()) == null ? FallbackReason.QP_SETUP_FAILED : null;
  }

  static String detailOf(FallbackReason obstacle) {
    return switch (obstacle) {
      case BAD_INDEX -> "it points outside the map output or the executor's slabs";
      case FILE_TIER -> "the executor could not register a file for this transport";
      default -> "the executor could not register a slab for this transport";
    };
  }

  /** Bytes of a slab of the peer, 0 when it has no such slab. */
  int slabLength(int slabId) {
    SlabRecord slab = record.slab(slabId);
    return slab == null ? 0 : (int) Math.min(slab.length(), Integer.MAX_VALUE);
  }

  ReadGroup newGroup(ReadGroup.Outcome outcome) {
    return new ReadGroup(
        link.transport(),
        services.batches(link.transport()),
        services.maxReadBytes(link.transport()),
        outcome);
  }

  /** Reads at which a group is big enough: two can be in flight to a peer. */
  int fullReads() {
    return Math.max(2, services.maxReadsInFlightPerPeer() / 2);
  }

  /** Bytes at which a group is big enough: several find room in receive memory. */
  long fullBytes(long wanted) {
    return Math.min(wanted, services.receivePool().maxBufferLength() / 4);
  }

  /** Gives the group memory, now or when some is free, and posts it. */
  void submit(ReadGroup group) {
    ReceiveBuffer buffer = services.receivePool().tryAllocate(group.totalBytes());
    if (buffer != null) {
      post(group, buffer);
      return;
    }
    // May call back before it returns.
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
   * follows runs elsewhere; unless the plugin is being stopped, when it is over soon.
   */
  private final class LateBuffer implements ReceivePool.Waiter {
    private final ReadGroup group;

    LateBuffer(ReadGroup group) {
      this.group = group;
    }

    @Override
    public void onBuffer(ReceiveBuffer buffer) {
      try {
        services.continuations().execute(() -> post(group, buffer));
      } catch (RejectedExecutionException | OutOfMemoryError e) { // there is no thread for it
        buffer.release();
        failForMemory(group);
      }
    }

    @Override
    public void onExpired() {
      try {
        services.continuations().execute(() -> failForMemory(group));
      } catch (RejectedExecutionException | OutOfMemoryError e) {
        failForMemory(group);
      }
    }
  }

  private void failForMemory(ReadGroup group) {
    group.fail(
        FallbackReason.NO_RECEIVE_BUFFER,
        group.totalBytes() + " bytes, see spark.shuffle.rdma.memory.receiveSize");
  }

  private void post(ReadGroup group, ReceiveBuffer buffer) {
    peer.touch();
    group.useBuffer(buffer);
    if (!link.connection().completesInline()) {
      peer.flight().submit(group, link.connection());
    } else if (!group.post(link.connection(), Deadline.after(services.readTimeout()))) {
      group.fail(FallbackReason.READ_FAILED, "the connection pushed back though nothing is out");
    }
  }

  /** A group ended well. */
  void onReadSucceeded() {
    peer.connector().onReadSucceeded();
  }

  /** A group ended badly. */
  void onReadFailed(ReadGroup.Failure failure) {
    if (failure.isOfConnection()) {
      peer.connector().onReadFailed(link.connection(), failure.reason(), failure.detail());
    }
  }

  /** Tells Spark that a block cannot be had, not even over TCP. */
  void fail(int block, Throwable error) {
    source.listener().onBlockFetchFailure(blocks.name(block), error);
  }

  /** As {@link #fail}, for all blocks of a map output. */
  void failOutput(int firstBlock, Throwable error) {
    for (int block = firstBlock, end = endOfRun(firstBlock); block < end; block++) {
      fail(block, error);
    }
  }

  void refuse(int block, FallbackReason obstacle, FallbackCollector refused) {
    refused.add(blocks.name(block), obstacle, detailOf(obstacle));
  }

  /** Hands all blocks of a map output to TCP. */
  void refuseOutput(
      int firstBlock, FallbackReason reason, String detail, FallbackCollector refused) {
    int end = endOfRun(firstBlock);
    for (int block = firstBlock; block < end; block++) {
      refused.add(blocks.name(block), reason, detail);
    }
  }

  /** Blocks of one map output come one behind the other; what concerns it is looked up once. */
  private int endOfRun(int firstBlock) {
    int end = firstBlock + 1;
    while (end < blocks.size() && blocks.mapTaskId(end) == blocks.mapTaskId(firstBlock)) {
      end++;
    }
    return end;
  }

  /** First partition asked for of a map output. */
  int startOfOutput(int firstBlock) {
    int start = blocks.startPartition(firstBlock);
    for (int block = firstBlock + 1, end = endOfRun(firstBlock); block < end; block++) {
      start = Math.min(start, blocks.startPartition(block));
    }
    return start;
  }

  /** One more than the last partition asked for of a map output. */
  int endOfOutput(int firstBlock) {
    int last = 0;
    for (int block = firstBlock, end = endOfRun(firstBlock); block < end; block++) {
      last = Math.max(last, blocks.endPartition(block));
    }
    return last;
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

  void useIndex(int firstBlock, IndexBlock index) {
    indexes[firstBlock] = index;
  }

  IndexBlock index(int block) {
    return indexes[block];
  }

  /** Where the index block of the block's map output lies. */
  IndexLocation location(int block) {
    return locations[block];
  }
}
