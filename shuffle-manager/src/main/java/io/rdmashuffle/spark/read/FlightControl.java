package io.rdmashuffle.spark.read;

import io.rdmashuffle.spark.FallbackReason;
import io.rdmashuffle.transport.Connection;
import io.rdmashuffle.transport.Deadline;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Bounds what this executor has in flight to one peer, in bytes and in reads, and to all peers, in
 * bytes: reads are pulled, so incast is the reducer's to prevent. Groups beyond the bounds wait
 * their turn here, first come, first served; one that exceeds a bound by itself flies alone.
 *
 * <p>Safe for use by several threads; whoever finds something to post posts it, one thread at a
 * time. A group waits only while others are in flight, whose end looks after it; and those end
 * within their deadline.
 */
final class FlightControl {
  private record Waiting(ReadGroup group, Connection connection, Deadline deadline) {}

  private final ReadServices services;
  private final AtomicLong bytesInFlightToAll;
  private final Deque<Waiting> queue = new ArrayDeque<>();
  private final AtomicInteger wakeUps = new AtomicInteger();

  // Guarded by queue.
  private long bytesInFlight;
  private int readsInFlight;
  private int groupsInFlight;

  /**
   * @param bytesInFlightToAll shared by the controls of all peers
   */
  FlightControl(ReadServices services, AtomicLong bytesInFlightToAll) {
    this.services = services;
    this.bytesInFlightToAll = bytesInFlightToAll;
  }

  /** Posts a group that has its buffer, now or when there is room. */
  void submit(ReadGroup group, Connection connection) {
    group.useFlightControl(this);
    Deadline deadline = Deadline.after(services.readTimeout());
    synchronized (queue) {
      queue.add(new Waiting(group, connection, deadline));
    }
    pump();
  }

  /** A group ended, one way or the other. */
  void onEnded(ReadGroup group) {
    synchronized (queue) {
      if (!group.hasRoom) {
        return; // it failed before its turn
      }
      group.hasRoom = false;
      bytesInFlight -= group.totalBytes();
      readsInFlight -= group.postedReads();
      groupsInFlight--;
    }
    bytesInFlightToAll.addAndGet(-group.totalBytes());
    pump();
  }

  /** Posts what may be posted; called whenever something changed. Never recurses. */
  void pump() {
    if (wakeUps.getAndIncrement() != 0) {
      return; // the thread that pumps sees the new count and goes round once more
    }
    int seen = 1;
    try {
      do {
        postWhatFits();
        seen = wakeUps.addAndGet(-seen);
      } while (seen != 0);
    } finally {
      if (seen != 0) {
        wakeUps.set(0); // else nobody would pump any more
      }
    }
  }

  private void postWhatFits() {
    while (true) {
      Waiting next;
      synchronized (queue) {
        next = queue.peek();
        if (next == null || !(isHopeless(next) || takeRoom(next.group()))) {
          return;
        }
      }
      if (!post(next)) {
        return; // the group keeps its room; the end of a batch will pump again
      }
      synchronized (queue) {
        queue.remove(); // only the pumping thread removes, so this is the head that was posted
      }
    }
  }

  /** False when the connection pushed back. */
  private boolean post(Waiting next) {
    if (isHopeless(next)) {
      boolean isOpen = next.connection().isOpen();
      next.group()
          .fail(
              isOpen ? FallbackReason.READ_TIMEOUT : FallbackReason.READ_FAILED,
              isOpen
                  ? "too much was in flight to this executor, see maxBytesInFlight"
                  : "the connection was closed before the read was posted");
      return true;
    }
    // A deadline of its own: one that waited must not break the connection for being late.
    return next.group().post(next.connection(), Deadline.after(services.readTimeout()));
  }

  private static boolean isHopeless(Waiting waiting) {
    return !waiting.connection().isOpen()
        || (waiting.deadline().isOver() && !waiting.group().isStarted());
  }

  /** Called with the lock held. A group alone in flight always has room. */
  private boolean takeRoom(ReadGroup group) {
    if (group.hasRoom) {
      return true;
    }
    boolean fits =
        groupsInFlight == 0
            || (bytesInFlight + group.totalBytes() <= services.maxBytesInFlightPerPeer()
                && readsInFlight + group.postedReads() <= services.maxReadsInFlightPerPeer()
                && bytesInFlightToAll.get() + group.totalBytes() <= services.maxBytesInFlight());
    if (fits) {
      group.hasRoom = true;
      bytesInFlight += group.totalBytes();
      readsInFlight += group.postedReads();
      groupsInFlight++;
      bytesInFlightToAll.addAndGet(group.totalBytes());
    }
    return fits;
  }
}
