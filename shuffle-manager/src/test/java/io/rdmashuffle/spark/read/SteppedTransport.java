package io.rdmashuffle.spark.read;

import io.rdmashuffle.transport.Access;
import io.rdmashuffle.transport.Availability;
import io.rdmashuffle.transport.Connection;
import io.rdmashuffle.transport.Deadline;
import io.rdmashuffle.transport.PeerIdentity;
import io.rdmashuffle.transport.ReadBatch;
import io.rdmashuffle.transport.ReadListener;
import io.rdmashuffle.transport.RegisteredSlab;
import io.rdmashuffle.transport.SlabMemory;
import io.rdmashuffle.transport.Transport;
import io.rdmashuffle.transport.TransportCounters;
import io.rdmashuffle.transport.TransportException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A transport that completes inline, made to stop before each read and, unless it is of a single
 * word, in the midst of it: anything may happen to the memory there, as it may while a device
 * gathers it.
 */
final class SteppedTransport implements Transport {
  /** What happens before a piece is read, and after it. */
  interface Step {
    void before(int remoteKey, long remoteAddress, int length);

    /** Called with a batch of which the piece is the only read. */
    default void after(ReadBatch piece) {}
  }

  private final Transport delegate;
  private final Step step;

  SteppedTransport(Transport delegate, Step step) {
    this.delegate = delegate;
    this.step = step;
  }

  @Override
  public String name() {
    return delegate.name();
  }

  @Override
  public Availability availability() {
    return delegate.availability();
  }

  @Override
  public RegisteredSlab register(SlabMemory slab, Access access) throws TransportException {
    return delegate.register(slab, access);
  }

  @Override
  public byte[] localEndpoint() {
    return delegate.localEndpoint();
  }

  @Override
  public CompletableFuture<Connection> connect(
      byte[] endpoint, PeerIdentity peer, Deadline deadline) {
    return delegate.connect(endpoint, peer, deadline).thenApply(Stepped::new);
  }

  @Override
  public boolean readsByDevice() {
    return delegate.readsByDevice();
  }

  @Override
  public int maxReadLength() {
    return delegate.maxReadLength();
  }

  @Override
  public int maxBatchSize() {
    return delegate.maxBatchSize();
  }

  @Override
  public TransportCounters counters() {
    return delegate.counters();
  }

  @Override
  public void close() {
    delegate.close();
  }

  private final class Stepped implements Connection {
    private final Connection connection;

    Stepped(Connection connection) {
      this.connection = connection;
    }

    @Override
    public PeerIdentity peer() {
      return connection.peer();
    }

    @Override
    public boolean isOpen() {
      return connection.isOpen();
    }

    @Override
    public boolean completesInline() {
      return true;
    }

    @Override
    public boolean offer(ReadBatch batch, ReadListener listener) {
      TransportException failure = null;
      for (int i = 0; i < batch.size() && failure == null; i++) {
        int half = (batch.length(i) / 2 + Long.BYTES - 1) & -Long.BYTES;
        int first = Math.min(Math.max(half, Long.BYTES), batch.length(i));
        failure = read(batch, i, 0, first);
        if (failure == null && first < batch.length(i)) {
          failure = read(batch, i, first, batch.length(i) - first);
        }
      }
      if (failure == null) {
        listener.onComplete(batch);
      } else {
        listener.onFailure(batch, failure);
      }
      return true;
    }

    private TransportException read(ReadBatch batch, int index, int at, int length) {
      int key = batch.remoteKey(index);
      long address = batch.remoteAddress(index) + at;
      step.before(key, address, length);
      ReadBatch piece =
          new ReadBatch(1)
              .reset(new Deadline(batch.deadlineNs()))
              .add(address, key, length, batch.localSlab(index), batch.localOffset(index) + at);
      AtomicReference<TransportException> failed = new AtomicReference<>();
      boolean isAccepted =
          connection.offer(
              piece,
              new ReadListener() {
                @Override
                public void onComplete(ReadBatch completed) {}

                @Override
                public void onFailure(ReadBatch incomplete, TransportException cause) {
                  failed.set(cause);
                }
              });
      if (!isAccepted) {
        throw new AssertionError("refused though nothing is outstanding");
      }
      step.after(piece);
      return failed.get();
    }

    @Override
    public void close() {
      connection.close();
    }
  }
}
