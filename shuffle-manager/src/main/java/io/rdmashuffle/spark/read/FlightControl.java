package io.rdmashuffle.spark.read;

import io.rdmashuffle.spark.FallbackReason;
import io.rdmashuffle.spark.read.PeerConnector.Link;
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
 * time.
 */
final class FlightControl {
  private record Waiting(ReadGroup group, Link link, Deadline deadline) {}

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
  void submit(ReadGroup group, Link link) {
    Deadline deadline = Deadline.after(services.readTimeout());
    synchronized (queue) {
      queue.add(new Waiting(group, link, deadline));
    }
    pump();
  }

  /** A group ended, one way or the other; nothing to do unless it was in flight. */
  void onEnded(ReadGroup group) {
    synchronized (queue) {
      if (!group.hasRoom) {
        return;
      }
      group.hasRoom = false;
      bytesInFlight -= group.totalBytes();
      readsInFlight -= group.size();
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
    do {
      postWhatFits();
      seen = wakeUps.addAndGet(-seen);
    } while (seen != 0);
  }

  private void postWhatFits() {
    while (true) {
      Waiting next;
      synchronized (queue) {
        next = queue.peek();
        if (next == null || !takeRoom(next.group())) {
          return;
        }
      }
      if (!next.link().connection().isOpen() || next.deadline().isOver()) {
        next.group().fail(closedOrLate(next), "no room in flight before the deadline");
      } else if (!next.group().post(next.link().connection(), next.deadline())) {
        return; // the group keeps its room; a completion will pump again
      }
      synchronized (queue) {
        queue.remove(); // only the pumping thread removes, so this is the head that was posted
      }
    }
  }

  private static FallbackReason closedOrLate(Waiting waiting) {
    return waiting.link().connection().isOpen()
        ? FallbackReason.READ_TIMEOUT
        : FallbackReason.READ_FAILED;
  }

  /** Called with the lock held. A group alone in flight always has room. */
  private boolean takeRoom(ReadGroup group) {
    if (group.hasRoom) {
      return true;
    }
    boolean fits =
        groupsInFlight == 0
            || (bytesInFlight + group.totalBytes() <= services.maxBytesInFlightPerPeer()
                && readsInFlight + group.size() <= services.maxReadsInFlightPerPeer()
                && bytesInFlightToAll.get() + group.totalBytes() <= services.maxBytesInFlight());
    if (fits) {
      group.hasRoom = true;
      bytesInFlight += group.totalBytes();
      readsInFlight += group.size();
      groupsInFlight++;
      bytesInFlightToAll.addAndGet(group.totalBytes());
    }
    return fits;
  }
}
