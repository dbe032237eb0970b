package io.rdmashuffle.spark.read;

import io.rdmashuffle.spark.FallbackReason;
import io.rdmashuffle.spark.directory.SlabKey;
import io.rdmashuffle.spark.directory.SlabRecord;
import io.rdmashuffle.store.ReceiveBuffer;
import io.rdmashuffle.transport.Connection;
import io.rdmashuffle.transport.Deadline;
import io.rdmashuffle.transport.ReadBatch;
import io.rdmashuffle.transport.ReadListener;
import io.rdmashuffle.transport.RegisteredSlab;
import io.rdmashuffle.transport.Transport;
import io.rdmashuffle.transport.TransportException;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads from one peer that succeed or fail together, into one receive buffer in which they lie one
 * behind the other in the order of {@link #add}. Spread over as many batches as needed; a later
 * read sees memory no older than an earlier one, since batches of a connection keep their order.
 *
 * <p>Life: filled by one thread, given a buffer, then posted, perhaps in several goes when the
 * connection pushes back, by one thread at a time. Ended by exactly one call of the outcome, after
 * the last go and the last batch, when nothing writes to the buffer any more. Batches end on
 * threads of the transport, or within the offer; no lock is held while they are offered.
 */
final class ReadGroup implements ReadListener {
  /**
   * Why a group failed.
   *
   * @param isOfConnection whether the connection broke, so that nobody should use it any more
   */
  record Failure(FallbackReason reason, String detail, boolean isOfConnection) {}

  /** How a group ended. */
  interface Outcome {
    /** All bytes are in the buffer, which the receiver now owns. */
    void onRead(ReceiveBuffer buffer);

    /** Nothing may be used; the buffer, if there was one, has been released. */
    void onFailure(Failure failure);

    /**
     * One of the others threw: what it has not handed on by then would be waited for for ever, so
     * the tasks are to be told. Not to throw.
     */
    void onError(Throwable error);
  }

  private static final Logger LOG = LoggerFactory.getLogger(ReadGroup.class);
  private static final int INITIAL_READS = 16;

  private final Transport transport;
  private final BatchPool batches;
  private final int maxReadBytes;
  private final Outcome outcome;

  private long[] remoteAddresses = new long[INITIAL_READS];
  private int[] remoteKeys = new int[INITIAL_READS];
  private int[] lengths = new int[INITIAL_READS];
  private int size;
  private long totalBytes;

  // The slab of the read added last, since many blocks lie in one.
  private SlabRecord recentSlab;
  private SlabKey recentKey;

  private ReceiveBuffer buffer;

  /** What bounds the reads in flight and wants to hear of progress; null when nothing does. */
  private FlightControl flight;

  /** Whether the reads count as in flight; owned by {@link FlightControl}. */
  boolean hasRoom;

  // Where posting stands: the next read, how much of it was posted, and where its bytes go. Owned
  // by the thread that posts; whoever hands over posting orders the accesses.
  private int nextRead;
  private int doneOfRead;
  private long bufferPosition;

  /** Batches that are out, and one until posting is over. Whoever takes it to 0 ends the group. */
  private final AtomicInteger unfinished = new AtomicInteger(1);

  private final AtomicReference<Failure> failure = new AtomicReference<>();

  /**
   * @param transport of the connection the group will be posted to
   * @param maxReadBytes longest single read, at most what the transport allows
   */
  ReadGroup(Transport transport, BatchPool batches, int maxReadBytes, Outcome outcome) {
    this.transport = transport;
    this.batches = batches;
    this.maxReadBytes = maxReadBytes;
    this.outcome = outcome;
  }

  /**
   * Adds a read.
   *
   * @param slab the peer's slab or window of a file, which has a key for the transport
   * @param offset within that slab, in bytes
   * @param length in bytes, at least 1; the caller has checked that it lies within the slab
   */
  @SuppressWarnings("ReferenceEquality") // files of one id need not have one key
  void add(SlabRecord slab, long offset, int length) {
    if (slab != recentSlab) {
      recentKey = slab.key(transport.name());
      recentSlab = slab;
    }
    if (size == lengths.length) {
      remoteAddresses = Arrays.copyOf(remoteAddresses, size * 2);
      remoteKeys = Arrays.copyOf(remoteKeys, size * 2);
      lengths = Arrays.copyOf(lengths, size * 2);
    }
    remoteAddresses[size] = recentKey.remoteAddress() + offset;
    remoteKeys[size] = recentKey.remoteKey();
    lengths[size] = length;
    size++;
    totalBytes += length;
  }

  /** Takes back the reads added last, so that {@code newSize} remain. */
  void truncate(int newSize) {
    while (size > newSize) {
      size--;
      totalBytes -= lengths[size];
    }
  }

  /** Bytes of all reads. */
  long totalBytes() {
    return totalBytes;
  }

  /** Number of reads added. */
  int size() {
    return size;
  }

  /** Number of reads that will be posted, long ones being split, give or take a few. */
  int postedReads() {
    return (int) Math.min(Integer.MAX_VALUE / 2, size + totalBytes / maxReadBytes);
  }

  /** Gives the group its memory, of at least {@link #totalBytes()}; owned by the group now. */
  void useBuffer(ReceiveBuffer receiveBuffer) {
    buffer = receiveBuffer;
  }

  /** From now on the control is told whenever a batch or the group ends. */
  void useFlightControl(FlightControl control) {
    flight = control;
  }

  /** Whether posting has begun. */
  boolean isStarted() {
    return bufferPosition > 0;
  }

  /**
   * Posts what is not yet posted.
   *
   * @return false when the connection pushed back: call again once something completed, or {@link
   *     #fail}
   */
  boolean post(Connection connection, Deadline deadline) {
    try {
      while (nextRead < size && failure.get() == null) {
        if (!postBatch(connection, deadline)) {
          return false;
        }
      }
    } catch (RuntimeException | Error e) {
      failure.compareAndSet(
          null, new Failure(FallbackReason.QP_SETUP_FAILED, "not posted: " + e, false));
    }
    finishOne();
    return true;
  }

  /** Takes the position back when the connection does not take the batch. */
  private boolean postBatch(Connection connection, Deadline deadline) {
    ReadBatch batch = batches.take().reset(deadline);
    boolean isAccepted = false;
    unfinished.incrementAndGet();
    try {
      fill(batch);
      isAccepted = connection.offer(batch, this);
    } finally {
      if (!isAccepted) {
        unfinished.decrementAndGet(); // not the last: posting is not over
        unwind(batch);
        batches.give(batch);
      }
    }
    return isAccepted;
  }

  private void fill(ReadBatch batch) {
    while (batch.size() < batch.capacity() && nextRead < size) {
      int left = Math.min(lengths[nextRead] - doneOfRead, maxReadBytes);
      int length = Math.min(left, buffer.contiguousAt(bufferPosition));
      RegisteredSlab local = buffer.slabAt(bufferPosition).registered(transport);
      if (local == null) {
        throw new IllegalStateException(
            "a slab of receive buffers could not be registered for " + transport.name());
      }
      batch.add(
          remoteAddresses[nextRead] + doneOfRead,
          remoteKeys[nextRead],
          length,
          local,
          buffer.slabOffsetAt(bufferPosition));
      bufferPosition += length;
      doneOfRead += length;
      if (doneOfRead == lengths[nextRead]) {
        nextRead++;
        doneOfRead = 0;
      }
    }
  }

  /** Takes back what {@link #fill} did, last read first. */
  private void unwind(ReadBatch batch) {
    for (int i = batch.size() - 1; i >= 0; i--) {
      if (doneOfRead == 0) {
        nextRead--;
        doneOfRead = lengths[nextRead];
      }
      doneOfRead -= batch.length(i);
      bufferPosition -= batch.length(i);
    }
  }

  @Override
  public void onComplete(ReadBatch batch) {
    onBatchEnded(batch);
  }

  @Override
  public void onFailure(ReadBatch batch, TransportException cause) {
    failure.compareAndSet(
        null, new Failure(FallbackReason.of(cause.kind()), cause.getMessage(), true));
    onBatchEnded(batch);
  }

  private void onBatchEnded(ReadBatch batch) {
    batches.give(batch);
    finishOne();
    if (flight != null) {
      flight.pump(); // there is room for more, of this group too
    }
  }

  /** Ends posting, before it began or halfway; instead of {@link #post} returning true. */
  void fail(FallbackReason reason, String detail) {
    failure.compareAndSet(null, new Failure(reason, detail, false));
    finishOne();
  }

  private void finishOne() {
    if (unfinished.decrementAndGet() != 0) {
      return;
    }
    try {
      if (flight != null) {
        flight.onEnded(this);
      }
    } finally {
      end();
    }
  }

  private void end() {
    Failure ended = failure.get();
    try {
      if (ended == null) {
        outcome.onRead(buffer);
        return;
      }
      if (buffer != null) {
        buffer.release();
      }
      outcome.onFailure(ended);
    } catch (RuntimeException | Error e) {
      LOG.error("blocks that were read together fail: what became of the read cannot be told", e);
      outcome.onError(e);
    }
  }
}
