package io.rdmashuffle.spark.directory;

import io.rdmashuffle.spark.directory.DirectoryException.Reason;
import io.rdmashuffle.spark.directory.LocatePage.ExecutorMention;
import io.rdmashuffle.transport.Deadline;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;

/**
 * What a client knows of other executors. Locations name an executor by an ordinal of this table,
 * given out once, so that a lost executor takes its locations with it.
 *
 * <p>A record is out of date once the driver has mentioned a later version of the slab table, and
 * is then asked for again. Requests are shared and name many executors at once.
 *
 * <p>Thread-safe. Answers are taken on the client's own thread.
 */
final class PeerTable {
  private final DirectoryChannel channel;
  private final ClientSettings settings;
  private final Executor executor;
  private final String ownExecutorId;
  private final Map<String, Peer> byId = new HashMap<>(); // guarded by this
  private volatile Peer[] byOrdinal = {}; // written under this
  private int ordinals; // guarded by this
  private int records; // guarded by this
  private boolean closed; // guarded by this

  /** One executor; fields guarded by the table but for {@code lost}. */
  private static final class Peer {
    static final int INDEX_UNKNOWN = -1;

    final String executorId;
    final int ordinal;
    final SharedRequest request;
    volatile boolean lost;
    int index = INDEX_UNKNOWN;
    long mentionedVersion;
    PeerRecord record;

    Peer(String executorId, int ordinal, long negativeTtlNs) {
      this.executorId = executorId;
      this.ordinal = ordinal;
      this.request = new SharedRequest(negativeTtlNs);
    }

    boolean hasFresh(int slabId) {
      return record != null
          && record.version() >= mentionedVersion
          && (slabId < 0 || record.slab(slabId) != null);
    }
  }

  /** An executor with the request that was begun for it. */
  private record Asked(Peer peer, CompletableFuture<Void> answer) {}

  PeerTable(
      DirectoryChannel channel, ClientSettings settings, Executor executor, String ownExecutorId) {
    this.channel = channel;
    this.settings = settings;
    this.executor = executor;
    this.ownExecutorId = ownExecutorId;
  }

  /** Id of the executor with that ordinal, or null when it is lost. Takes no lock. */
  String executorId(int ordinal) {
    Peer peer = byOrdinal[ordinal];
    return peer.lost ? null : peer.executorId;
  }

  /** Takes what the driver mentioned. Returns the ordinals, in the order of the mentions. */
  synchronized int[] note(List<ExecutorMention> mentions) {
    int[] result = new int[mentions.size()];
    for (int i = 0; i < result.length; i++) {
      ExecutorMention mention = mentions.get(i);
      Peer peer = byId.get(mention.executorId());
      if (peer == null || (peer.index != Peer.INDEX_UNKNOWN && peer.index != mention.index())) {
        peer = add(mention.executorId());
      }
      if (peer.lost || peer.mentionedVersion < mention.version()) {
        peer.request.doubtNegative();
      }
      peer.index = mention.index();
      peer.lost = false;
      peer.mentionedVersion = Math.max(peer.mentionedVersion, mention.version());
      result[i] = peer.ordinal;
    }
    return result;
  }

  private Peer add(String executorId) {
    Peer peer = new Peer(executorId, ordinals++, settings.negativeTtl().toNanos());
    Peer[] table = byOrdinal;
    if (peer.ordinal == table.length) {
      table = Arrays.copyOf(table, Math.max(16, table.length * 2));
    }
    table[peer.ordinal] = peer;
    byOrdinal = table;
    Peer former = byId.put(executorId, peer);
    if (former != null) {
      lose(former);
    }
    return peer;
  }

  private void lose(Peer peer) {
    peer.lost = true;
    keep(peer, null);
  }

  private void keep(Peer peer, PeerRecord record) {
    records += (record == null ? 0 : 1) - (peer.record == null ? 0 : 1);
    peer.record = record;
    if (records > settings.maxPeers()) {
      // Whoever is still needed is asked for again; which ones those are is not worth tracking.
      byId.values().forEach(other -> other.record = null);
      peer.record = record;
      records = 1;
    }
  }

  /** Asks for all that were mentioned and are not known in that version; waits for nothing. */
  void prefetch(List<ExecutorMention> mentions) {
    List<Asked> wanted = new ArrayList<>();
    synchronized (this) {
      for (ExecutorMention mention : mentions) {
        Peer peer = byId.get(mention.executorId());
        if (peer != null
            && !peer.executorId.equals(ownExecutorId)
            && !peer.hasFresh(-1)
            && peer.request.inFlight() == null
            && !peer.request.isNegative()
            && !closed) {
          wanted.add(new Asked(peer, peer.request.begin()));
        }
      }
    }
    for (int from = 0; from < wanted.size(); from += Bounds.MAX_PEERS_PER_REQUEST) {
      int to = Math.min(wanted.size(), from + Bounds.MAX_PEERS_PER_REQUEST);
      request(List.copyOf(wanted.subList(from, to)));
    }
  }

  /**
   * The record of an executor, or null when the driver knows none.
   *
   * @param slabId slab the record must list, else null is returned; -1 for none
   */
  PeerRecord get(String executorId, int slabId, Deadline deadline)
      throws DirectoryException, InterruptedException {
    long ticket = -1;
    while (true) {
      CompletableFuture<Void> answer;
      Asked asked = null;
      synchronized (this) {
        if (closed) {
          throw Answers.closed();
        }
        Peer peer = byId.get(executorId);
        if (peer == null) {
          peer = add(executorId);
        }
        if (peer.hasFresh(slabId)) {
          return peer.record;
        }
        if (ticket < 0) {
          ticket = peer.request.ticket();
        }
        if (peer.request.isOver(ticket) || isNegative(peer.request)) {
          peer.request.throwIfFailed();
          if (!peer.request.isNegative()) {
            peer.request.believeNegative();
          }
          return null;
        }
        if (peer.request.inFlight() == null) {
          asked = new Asked(peer, peer.request.begin());
        }
        answer = peer.request.inFlight();
      }
      if (asked != null) {
        request(List.of(asked));
      }
      Answers.await(answer, deadline);
    }
  }

  private static boolean isNegative(SharedRequest request) {
    return request.inFlight() == null && request.isNegative();
  }

  private void request(List<Asked> asked) {
    CompletableFuture<Void> unused =
        ask(asked, Deadline.after(settings.askTimeout()))
            .whenComplete(
                (done, thrown) -> {
                  if (thrown != null) {
                    asked.forEach(one -> end(one, Answers.failure(thrown)));
                  }
                });
  }

  private CompletableFuture<Void> ask(List<Asked> asked, Deadline deadline) {
    byte[] request = Messages.encodePeers(asked.stream().map(a -> a.peer().executorId).toList());
    return channel
        .ask(request, deadline)
        .thenComposeAsync(
            bytes -> {
              int answered = take(asked, Answers.readInStage(bytes, Messages::decodePeersAnswer));
              return answered < asked.size()
                  ? ask(asked.subList(answered, asked.size()), deadline)
                  : CompletableFuture.completedFuture(null);
            },
            executor);
  }

  /** Takes answers to the first of the peers; returns how many. */
  private int take(List<Asked> asked, List<Optional<PeerRecord>> answers) {
    if (answers.isEmpty() || answers.size() > asked.size()) {
      throw unexpected(answers.size() + " answers to " + asked.size() + " questions");
    }
    for (int i = 0; i < answers.size(); i++) {
      Peer peer = asked.get(i).peer();
      PeerRecord record = answers.get(i).orElse(null);
      if (record != null && !record.executorId().equals(peer.executorId)) {
        throw unexpected("another executor than asked for");
      }
      synchronized (this) {
        if (record == null) {
          lose(peer);
        } else {
          keep(peer, record);
        }
      }
      end(asked.get(i), null);
    }
    return answers.size();
  }

  private static CompletionException unexpected(String what) {
    return new CompletionException(
        new DirectoryException(Reason.INCOMPATIBLE, "the driver's directory sent " + what));
  }

  private void end(Asked asked, DirectoryException outcome) {
    synchronized (this) {
      asked.peer().request.end(asked.answer(), outcome);
    }
    asked.answer().complete(null);
  }

  /** Drops an executor's record and, with its ordinal, its locations. */
  synchronized void forget(String executorId) {
    Peer peer = byId.get(executorId);
    if (peer != null) {
      lose(peer);
    }
  }

  /** Ends all waits; later calls fail. */
  void close() {
    List<Asked> inFlight = new ArrayList<>();
    synchronized (this) {
      closed = true;
      for (Peer peer : byId.values()) {
        if (peer.request.inFlight() != null) {
          inFlight.add(new Asked(peer, peer.request.inFlight()));
        }
      }
    }
    inFlight.forEach(asked -> end(asked, Answers.closed()));
  }
}
