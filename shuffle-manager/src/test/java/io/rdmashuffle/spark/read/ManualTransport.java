package io.rdmashuffle.spark.read;

import io.rdmashuffle.transport.Access;
import io.rdmashuffle.transport.Availability;
import io.rdmashuffle.transport.Connection;
import io.rdmashuffle.transport.Deadline;
import io.rdmashuffle.transport.FailureKind;
import io.rdmashuffle.transport.PeerIdentity;
import io.rdmashuffle.transport.ReadBatch;
import io.rdmashuffle.transport.ReadListener;
import io.rdmashuffle.transport.RegisteredSlab;
import io.rdmashuffle.transport.SlabMemory;
import io.rdmashuffle.transport.Transport;
import io.rdmashuffle.transport.TransportCounters;
import io.rdmashuffle.transport.TransportException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * A transport that does what the test says, when it says so. Reads move no bytes: each byte that
 * lies at the remote address a arrives as {@code (byte) a}.
 */
final class ManualTransport implements Transport {
  final List<CompletableFuture<Connection>> connects = new ArrayList<>();
  final List<PeerIdentity> asked = new ArrayList<>();
  boolean refusesSlabs;
  RuntimeException thrownByConnect;

  private final String name;
  private final TransportCounters counters = new TransportCounters();

  ManualTransport(String name) {
    this.name = name;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public Availability availability() {
    return Availability.available("test");
  }

  @Override
  public RegisteredSlab register(SlabMemory slab, Access access) throws TransportException {
    if (refusesSlabs) {
      throw new TransportException(FailureKind.QP_SETUP_FAILED, "of the test");
    }
    return new RegisteredSlab() {
      @Override
      public SlabMemory slab() {
        return slab;
      }

      @Override
      public long remoteAddress() {
        return 0;
      }

      @Override
      public int remoteKey() {
        return 1;
      }

      @Override
      public void close() {}
    };
  }

  @Override
  public byte[] localEndpoint() {
    return new byte[] {1};
  }

  @Override
  public CompletableFuture<Connection> connect(
      byte[] endpoint, PeerIdentity peer, Deadline deadline) {
    asked.add(peer);
    if (thrownByConnect != null) {
      throw thrownByConnect;
    }
    CompletableFuture<Connection> result = new CompletableFuture<>();
    connects.add(result);
    return result;
  }

  /** Fails the connect asked for last. */
  void failConnect(FailureKind kind) {
    connects.get(connects.size() - 1).completeExceptionally(new TransportException(kind, "no"));
  }

  /** Answers the connect asked for last. */
  ManualConnection succeedConnect() {
    ManualConnection connection = new ManualConnection(Integer.MAX_VALUE);
    connects.get(connects.size() - 1).complete(connection);
    return connection;
  }

  @Override
  public boolean readsByDevice() {
    return name.equals("rdma");
  }

  @Override
  public int maxReadLength() {
    return 1 << 30;
  }

  @Override
  public int maxBatchSize() {
    return 4;
  }

  @Override
  public TransportCounters counters() {
    return counters;
  }

  @Override
  public void close() {}

  /** A connection with room for so many batches, which end when the test says so. */
  static final class ManualConnection implements Connection {
    private record Offer(ReadBatch batch, ReadListener listener) {}

    private final Deque<Offer> offers = new ArrayDeque<>();
    private final int room;
    private boolean isOpen = true;
    int refusals;
    int accepted;

    ManualConnection(int room) {
      this.room = room;
    }

    int outstanding() {
      return offers.size();
    }

    int outstandingReads() {
      return offers.stream().mapToInt(offer -> offer.batch().size()).sum();
    }

    @Override
    public PeerIdentity peer() {
      return null;
    }

    @Override
    public boolean isOpen() {
      return isOpen;
    }

    @Override
    public boolean offer(ReadBatch batch, ReadListener listener) {
      if (!isOpen) {
        listener.onFailure(batch, new TransportException(FailureKind.CLOSED, "closed"));
        return true;
      }
      if (offers.size() >= room) {
        refusals++;
        return false;
      }
      accepted++;
      offers.add(new Offer(batch, listener));
      return true;
    }

    /** Ends the eldest batch well. */
    void complete() {
      Offer offer = offers.remove();
      ReadBatch batch = offer.batch();
      for (int i = 0; i < batch.size(); i++) {
        for (int at = 0; at < batch.length(i); at++) {
          batch
              .localSlab(i)
              .slab()
              .buffer()
              .put(batch.localOffset(i) + at, (byte) (batch.remoteAddress(i) + at));
        }
      }
      offer.listener().onComplete(batch);
    }

    void completeAll() {
      while (!offers.isEmpty()) {
        complete();
      }
    }

    /** Ends the eldest batch badly; those behind it are still out until they are flushed. */
    void fail(FailureKind kind) {
      isOpen = false;
      Offer offer = offers.remove();
      offer.listener().onFailure(offer.batch(), new TransportException(kind, "of the test"));
    }

    void flush() {
      while (!offers.isEmpty()) {
        fail(FailureKind.CLOSED);
      }
    }

    /** Batches outstanding stay so until {@link #flush()}. */
    @Override
    public void close() {
      isOpen = false;
    }
  }
}
