package io.rdmashuffle.transport.sharedmemory;

import io.rdmashuffle.transport.Connection;
import io.rdmashuffle.transport.FailureKind;
import io.rdmashuffle.transport.FileWindow;
import io.rdmashuffle.transport.PeerIdentity;
import io.rdmashuffle.transport.ReadBatch;
import io.rdmashuffle.transport.ReadListener;
import io.rdmashuffle.transport.TransportCounters;
import io.rdmashuffle.transport.TransportException;
import java.io.IOException;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A way to the slabs of one process on this host.
 *
 * <p>How a read works: {@link #offer} finds the peer's slab in the table of mapped ones, holds it,
 * copies, lets go, and calls the listener, all in the calling thread. Once a slab is mapped this
 * allocates nothing and makes no system call. Only a listener's own offers wait, until it returns
 * (see {@link OfferQueue}). There is always room, so no offer is refused.
 *
 * <p>A data file is opened for each batch that reads from it, and read by the system.
 *
 * <p>Long copies go in pieces, so that a close, a deadline or a safepoint need not wait for them.
 */
final class SharedMemoryConnection implements Connection {
  private static final Logger LOGGER = LoggerFactory.getLogger(SharedMemoryConnection.class);

  /** Some 100 µs of copying. */
  private static final int PIECE_LENGTH = 1024 * 1024;

  private final PeerIdentity peer;
  private final TransportCounters counters;
  private final PeerSlabs slabs;
  private final Consumer<SharedMemoryConnection> onClose;
  private final AtomicBoolean isClosed = new AtomicBoolean();

  /** Falls once, with the first failure or with the close. */
  private final AtomicBoolean isOpen = new AtomicBoolean(true);

  /**
   * @param onClose told once, after the connection let its mappings go
   */
  SharedMemoryConnection(
      PeerIdentity peer,
      PeerSlabs slabs,
      TransportCounters counters,
      Consumer<SharedMemoryConnection> onClose) {
    this.peer = peer;
    this.slabs = slabs;
    this.counters = counters;
    this.onClose = onClose;
  }

  @Override
  public PeerIdentity peer() {
    return peer;
  }

  @Override
  public boolean isOpen() {
    return isOpen.get();
  }

  @Override
  public boolean offer(ReadBatch batch, ReadListener listener) {
    requireAcceptable(batch);
    OfferQueue.ofCurrentThread().offer(this, batch, listener);
    return true;
  }

  @Override
  public void close() {
    if (!isClosed.compareAndSet(false, true)) {
      return;
    }
    isOpen.set(false);
    slabs.close();
    onClose.accept(this);
  }

  /** Reads the batch and tells the listener. */
  void execute(ReadBatch batch, ReadListener listener) {
    try {
      TransportException failure = read(batch);
      if (failure == null) {
        counters.readsCompleted.add(batch.size());
        counters.bytesRead.add(batch.totalBytes());
        listener.onComplete(batch);
      } else {
        counters.batchesFailed.increment();
        listener.onFailure(batch, failure);
      }
    } catch (RuntimeException e) {
      // Listeners never throw; one that does must not lose the batches that wait behind it.
      LOGGER.error("a read listener failed", e);
    }
  }

  private static void requireAcceptable(ReadBatch batch) {
    if (batch.size() == 0 || batch.size() > SharedMemoryTransport.MAX_BATCH_SIZE) {
      throw new IllegalArgumentException(
          "batch size=" + batch.size() + ", expected 1 to " + SharedMemoryTransport.MAX_BATCH_SIZE);
    }
    for (int i = 0; i < batch.size(); i++) {
      if (batch.length(i) > SharedMemoryTransport.MAX_READ_LENGTH) {
        throw new IllegalArgumentException(
            "read length="
                + batch.length(i)
                + " > maxReadLength="
                + SharedMemoryTransport.MAX_READ_LENGTH);
      }
    }
  }

  /** Null when every read is done. The memory is let go before anybody is told. */
  private TransportException read(ReadBatch batch) {
    PeerMemory memory = null;
    try {
      requireGoOn(batch);
      for (int i = 0; i < batch.size(); i++) {
        int key = batch.remoteKey(i);
        if (memory == null || memory.key() != key) {
          PeerMemory previous = memory;
          memory = null;
          if (previous != null) {
            previous.release();
          }
          memory = hold(key, batch.remoteAddress(i));
        }
        copy(memory, batch, i);
        // A later read must see memory no older than this one did.
        VarHandle.acquireFence();
      }
      requireGoOn(batch); // what is done too late counts as not done
      return null;
    } catch (TransportException e) {
      isOpen.set(false);
      return e;
    } finally {
      if (memory != null) {
        memory.release();
      }
    }
  }

  private PeerMemory hold(int key, long address) throws TransportException {
    try {
      return FileWindow.isInFile(address) ? slabs.openFile(key) : slabs.hold(key);
    } catch (IOException e) {
      if (!isOpen()) {
        throw closed();
      }
      throw new TransportException(
          FailureKind.READ_FAILED,
          "cannot open the memory with descriptor " + key + " of " + peer + ": " + e.getMessage(),
          e);
    }
  }

  private void copy(PeerMemory memory, ReadBatch batch, int index) throws TransportException {
    long address = batch.remoteAddress(index);
    int length = batch.length(index);
    if (!memory.contains(address, length)) {
      throw new TransportException(
          FailureKind.READ_FAILED,
          "a read of "
              + length
              + " bytes at "
              + address
              + " lies outside the memory with descriptor "
              + memory.key()
              + " of "
              + peer);
    }
    ByteBuffer target = batch.localSlab(index).slab().buffer();
    int targetOffset = batch.localOffset(index);
    while (length > PIECE_LENGTH) {
      copyPiece(memory, target, targetOffset, address, PIECE_LENGTH);
      requireGoOn(batch);
      targetOffset += PIECE_LENGTH;
      address += PIECE_LENGTH;
      length -= PIECE_LENGTH;
    }
    copyPiece(memory, target, targetOffset, address, length);
  }

  private void copyPiece(
      PeerMemory memory, ByteBuffer target, int targetOffset, long address, int length)
      throws TransportException {
    try {
      memory.copyTo(target, targetOffset, address, length);
    } catch (IOException e) {
      throw new TransportException(
          FailureKind.READ_FAILED, "memory of " + peer + " cannot be read: " + e.getMessage(), e);
    }
  }

  private void requireGoOn(ReadBatch batch) throws TransportException {
    if (!isOpen()) {
      throw closed();
    }
    if (batch.deadlineNs() - System.nanoTime() <= 0) {
      throw new TransportException(
          FailureKind.READ_TIMEOUT,
          "the deadline of "
              + batch.size()
              + " reads from the memory of "
              + peer
              + " passed before they were done");
    }
  }

  private TransportException closed() {
    return new TransportException(
        FailureKind.CLOSED,
        "the shared-memory connection to "
            + peer
            + (isClosed.get() ? " was closed" : " broke with an earlier read"));
  }
}
