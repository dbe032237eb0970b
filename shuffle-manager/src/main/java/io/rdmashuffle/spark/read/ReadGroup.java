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

/**
 * Reads from one peer that succeed or fail together, into one receive buffer in which they lie one
 * behind the other in the order of {@link #add}. Spread over as many batches as needed; a later
 * read sees memory no older than an earlier one, since batches of a connection keep their order.
 *
 * <p>Life: filled by one thread, given a buffer, posted, perhaps in several goes when the
 * connection pushes back, and ended by exactly one call of the outcome, after which nothing writes
 * to the buffer any more. Posting and completion may run on different threads; {@code synchronized}
 * orders them, and no call leaves this class while the lock is held except {@link
 * Connection#offer}.
 */
final class ReadGroup implements ReadListener {
  /** How a group ended. */
  interface Outcome {
    /** All bytes are in the buffer, which the receiver now owns. */
    void onRead(ReadGroup group, ReceiveBuffer buffer);

    /** Nothing may be used; the buffer, if there was one, has been released. */
    void onFailure(ReadGroup group, FallbackReason reason, String detail);
  }

  private static final int INITIAL_READS = 16;

  private final Transport transport;
  private final BatchPool batches;
  private final int maxReadBytes;
  private final Outcome outcome;

  private long[] remoteAddresses = new long[INITIAL_READS];
  private int[] remoteKeys = new int[INITIAL_READS];
  private long[] lengths = new long[INITIAL_READS];
  private int size;
  private long totalBytes;

  private ReceiveBuffer buffer;

  /** Whether the reads count as in flight; owned by {@link FlightControl}. */
  boolean hasRoom;

  // Where posting stands: the next read, how much of it was posted, and where its bytes go.
  private int nextRead;
  private long doneOfRead;
  private long bufferPosition;

  private int batchesOut;
  private boolean isFullyPosted;
  private boolean isPosting;
  private TransportException failure;
  private boolean isEnded;

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
   * @param slab the peer's slab
   * @param offset within that slab, in bytes
   * @param length in bytes, at least 1; the caller has checked that it lies within the slab
   * @return where the bytes will lie within the buffer
   */
  long add(SlabRecord slab, long offset, long length) {
    SlabKey key = slab.key(transport.name());
    if (size == lengths.length) {
      remoteAddresses = Arrays.copyOf(remoteAddresses, size * 2);
      remoteKeys = Arrays.copyOf(remoteKeys, size * 2);
      lengths = Arrays.copyOf(lengths, size * 2);
    }
    remoteAddresses[size] = key.remoteAddress() + offset;
    remoteKeys[size] = key.remoteKey();
    lengths[size] = length;
    size++;
    long position = totalBytes;
    totalBytes += length;
    return position;
  }

  /** Bytes of all reads. */
  long totalBytes() {
    return totalBytes;
  }

  /** Number of reads added; posting may split long ones. */
  int size() {
    return size;
  }

  /** Gives the group its memory, of at least {@link #totalBytes()}; owned by the group now. */
  void useBuffer(ReceiveBuffer receiveBuffer) {
    buffer = receiveBuffer;
  }

  /**
   * Posts what is not yet posted.
   *
   * @return false when the connection pushed back: call again once something completed
   */
  boolean post(Connection connection, Deadline deadline) {
    synchronized (this) {
      isPosting = true;
      while (failure == null && nextRead < size) {
        ReadBatch batch = fillBatch(deadline);
        batchesOut++;
        if (!offer(connection, batch)) {
          isPosting = false;
          return false;
        }
      }
      isPosting = false;
      isFullyPosted = true;
    }
    endIfDone();
    return true;
  }

  /** Takes the position back when the connection does not take the batch. */
  private boolean offer(Connection connection, ReadBatch batch) {
    if (connection.offer(batch, this)) {
      return true;
    }
    batchesOut--;
    unwind(batch);
    batches.give(batch);
    return false;
  }

  private ReadBatch fillBatch(Deadline deadline) {
    ReadBatch batch = batches.take().reset(deadline);
    while (batch.size() < batch.capacity() && nextRead < size) {
      long left = Math.min(lengths[nextRead] - doneOfRead, maxReadBytes);
      int length = (int) Math.min(left, buffer.contiguousAt(bufferPosition));
      RegisteredSlab local = buffer.slabAt(bufferPosition).registered(transport);
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
    return batch;
  }

  /** Takes back what {@link #fillBatch} did, last read first. */
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
    onBatchEnded(batch, null);
  }

  @Override
  public void onFailure(ReadBatch batch, TransportException batchFailure) {
    onBatchEnded(batch, batchFailure);
  }

  private void onBatchEnded(ReadBatch batch, TransportException batchFailure) {
    batches.give(batch);
    synchronized (this) {
      batchesOut--;
      if (failure == null) {
        failure = batchFailure;
      }
      if (isPosting) {
        return; // the poster looks after the end when it is done
      }
    }
    endIfDone();
  }

  /** Ends a group that will not be posted, or not any further. */
  void fail(FallbackReason reason, String detail) {
    synchronized (this) {
      if (isEnded) {
        return;
      }
      isEnded = true;
    }
    releaseBuffer();
    outcome.onFailure(this, reason, detail);
  }

  private void endIfDone() {
    TransportException ended;
    synchronized (this) {
      boolean isDone = batchesOut == 0 && (isFullyPosted || failure != null);
      if (isEnded || !isDone) {
        return;
      }
      isEnded = true;
      ended = failure;
    }
    if (ended == null) {
      outcome.onRead(this, buffer);
    } else {
      releaseBuffer();
      outcome.onFailure(this, FallbackReason.of(ended.kind()), ended.getMessage());
    }
  }

  private void releaseBuffer() {
    if (buffer != null) {
      buffer.release();
    }
  }
}
