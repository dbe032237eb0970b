package io.rdmashuffle.spark.directory;

import io.rdmashuffle.spark.directory.DirectoryException.Reason;
import io.rdmashuffle.transport.Deadline;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.function.Predicate;

/**
 * What a client knows of one shuffle: the locations so far and the position up to which the
 * driver's log was read. A refresh reads on from there, page by page, and is shared.
 *
 * <p>Thread-safe. Pages are taken on the client's own thread alone, the only one that ever holds
 * the locks of two shuffles, when it makes room.
 */
final class ShuffleLocations {
  private final int shuffleId;
  private final DirectoryChannel channel;
  private final ClientSettings settings;
  private final Executor executor;
  private final PeerTable peers;
  private final HeapBudget budget;
  private final Predicate<ShuffleLocations> makeRoom;

  private final LocationTable table = new LocationTable(); // guarded by this
  private final SharedRequest refresh; // guarded by this
  private int position; // guarded by this
  private volatile boolean discarded; // written under this
  private DirectoryException closedBy; // guarded by this
  private volatile long lastUsedNs = System.nanoTime();

  /**
   * @param makeRoom gives up another shuffle's locations; false when there is none
   */
  ShuffleLocations(
      int shuffleId,
      DirectoryChannel channel,
      ClientSettings settings,
      Executor executor,
      PeerTable peers,
      HeapBudget budget,
      Predicate<ShuffleLocations> makeRoom) {
    this.shuffleId = shuffleId;
    this.channel = channel;
    this.settings = settings;
    this.executor = executor;
    this.peers = peers;
    this.budget = budget;
    this.makeRoom = makeRoom;
    this.refresh = new SharedRequest(settings.negativeTtl().toNanos());
  }

  int shuffleId() {
    return shuffleId;
  }

  boolean isDiscarded() {
    return discarded;
  }

  long lastUsedNs() {
    return lastUsedNs;
  }

  /** Fills the holder; false when the output is not known here. Allocates nothing. */
  synchronized boolean lookup(long mapTaskId, Located into) {
    int handle = table.find(mapTaskId);
    if (handle < 0) {
      return false;
    }
    String executorId = peers.executorId(table.ordinal(handle));
    if (executorId == null) {
      return false;
    }
    table.fill(handle, executorId, into);
    return true;
  }

  private boolean knows(long mapTaskId, String expectedExecutorId) {
    int handle = table.find(mapTaskId);
    if (handle < 0) {
      return false;
    }
    String executorId = peers.executorId(table.ordinal(handle));
    return executorId != null
        && (expectedExecutorId == null || expectedExecutorId.equals(executorId));
  }

  private boolean knowsAll(long[] mapTaskIds, String expectedExecutorId) {
    for (long mapTaskId : mapTaskIds) {
      if (!knows(mapTaskId, expectedExecutorId)) {
        return false;
      }
    }
    return true;
  }

  /**
   * Whether all outputs are known, after asking the driver if need be.
   *
   * @param executorId where they are expected, since outputs move; null for anywhere
   */
  boolean ensure(long[] mapTaskIds, String executorId, Deadline deadline)
      throws DirectoryException, InterruptedException {
    lastUsedNs = System.nanoTime();
    long ticket = -1;
    while (true) {
      CompletableFuture<Void> answer;
      CompletableFuture<Void> begun = null;
      int from;
      synchronized (this) {
        if (knowsAll(mapTaskIds, executorId)) {
          return true;
        }
        if (closedBy != null) {
          throw Answers.again(closedBy);
        }
        if (discarded) {
          return false;
        }
        if (ticket < 0) {
          ticket = refresh.ticket();
        }
        boolean over = refresh.isOver(ticket);
        if (over || (refresh.inFlight() == null && refresh.isNegative())) {
          refresh.throwIfFailed();
          if (over && !refresh.isNegative()) {
            refresh.believeNegative();
          }
          return false;
        }
        if (refresh.inFlight() == null) {
          begun = refresh.begin();
        }
        answer = refresh.inFlight();
        from = position;
      }
      if (begun != null) {
        start(begun, from);
      }
      Answers.await(answer, deadline);
    }
  }

  private void start(CompletableFuture<Void> begun, int from) {
    CompletableFuture<Void> unused =
        readOn(from, Deadline.after(settings.askTimeout()))
            .whenComplete(
                (done, thrown) -> end(begun, thrown == null ? null : Answers.failure(thrown)));
  }

  private CompletableFuture<Void> readOn(int from, Deadline deadline) {
    byte[] request = Messages.encodeLocate(new Messages.LocateRequest(shuffleId, from));
    return channel
        .ask(request, deadline)
        .thenComposeAsync(
            bytes -> {
              Optional<LocatePage> page = Answers.readInStage(bytes, Messages::decodePage);
              if (page.isEmpty()) {
                reset();
                return CompletableFuture.completedFuture(null);
              }
              return take(page.get(), from)
                  ? readOn(page.get().nextPosition(), deadline)
                  : CompletableFuture.completedFuture(null);
            },
            executor);
  }

  /** Takes a page; whether there is more to read. */
  private boolean take(LocatePage page, int from) {
    if (page.nextPosition() < from || (page.more() && page.nextPosition() == from)) {
      throw new CompletionException(
          new DirectoryException(
              Reason.INCOMPATIBLE,
              "the driver's directory went from position "
                  + from
                  + " to "
                  + page.nextPosition()
                  + " of shuffle "
                  + shuffleId));
    }
    int[] ordinals = peers.note(page.executors());
    peers.prefetch(page.executors());
    synchronized (this) {
      if (discarded) {
        return false;
      }
      position = page.nextPosition();
      if (reserve(page.count())) {
        for (int entry = 0; entry < page.count(); entry++) {
          table.put(page, entry, ordinals[page.executor(entry)]);
        }
      }
    }
    return page.more();
  }

  // What finds no room is not located, and is read over TCP.
  private boolean reserve(int additional) {
    long before = table.heapBytes();
    long after = table.heapBytesWith(additional);
    if (after < 0) {
      return false;
    }
    while (!budget.tryReserve(after - before)) {
      if (!makeRoom.test(this)) {
        return false;
      }
    }
    table.reserve(additional);
    return true;
  }

  private void end(CompletableFuture<Void> begun, DirectoryException outcome) {
    synchronized (this) {
      refresh.end(begun, outcome);
      if (outcome != null && outcome.reason() == Reason.REFUSED) {
        reset(); // the driver does not know our position, so the next refresh starts over
      }
    }
    begun.complete(null);
  }

  // What the driver said of the shuffle no longer holds.
  private synchronized void reset() {
    budget.release(table.heapBytes());
    table.clear();
    position = 0;
  }

  /** Gives everything up, for good; tasks that wait learn that nothing is known. */
  void discard() {
    CompletableFuture<Void> inFlight;
    synchronized (this) {
      discarded = true;
      reset();
      inFlight = refresh.inFlight();
    }
    if (inFlight != null) {
      end(inFlight, null);
    }
  }

  /** As {@link #discard}, and tasks that wait or come later fail. */
  void close() {
    synchronized (this) {
      closedBy = Answers.closed();
    }
    discard();
  }
}
