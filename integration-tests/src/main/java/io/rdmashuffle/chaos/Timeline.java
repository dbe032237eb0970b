package io.rdmashuffle.chaos;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.PriorityQueue;
import java.util.concurrent.TimeUnit;

/**
 * Does the injections of a round at their times, on a thread of its own, and undoes each when its
 * time is over; whatever happens, all are undone when it is closed.
 */
final class Timeline implements AutoCloseable {
  private static final long TICK_MS = 10;

  private record Due(long atMs, Runnable undoing, String deed) {}

  private final Injector injector;
  private final Deque<Injection> toCome;
  private final PriorityQueue<Due> toUndo =
      new PriorityQueue<>(Comparator.comparingLong(Due::atMs));
  private final List<String> events = new ArrayList<>(); // guarded by itself
  private final long startNs = System.nanoTime();
  private final Thread thread = new Thread(this::run, "chaos");
  private volatile boolean isClosing;

  private Timeline(Injector injector, List<Injection> injections) {
    this.injector = injector;
    this.toCome = new ArrayDeque<>(injections);
  }

  /**
   * Starts the clock.
   *
   * @param injections in the order of their times
   */
  static Timeline start(Injector injector, List<Injection> injections) {
    Timeline timeline = new Timeline(injector, injections);
    timeline.thread.start();
    return timeline;
  }

  private void run() {
    try {
      while (!isClosing && !(toCome.isEmpty() && toUndo.isEmpty())) {
        long nowMs = elapsedMs();
        if (!toUndo.isEmpty() && toUndo.peek().atMs() <= nowMs) {
          undo(toUndo.poll());
        } else if (!toCome.isEmpty() && toCome.peek().afterMs() <= nowMs) {
          inject(toCome.poll());
        } else {
          TimeUnit.MILLISECONDS.sleep(TICK_MS);
        }
      }
    } catch (InterruptedException e) {
      note("interrupted");
    } finally {
      toUndo.forEach(this::undo);
    }
  }

  private void inject(Injection injection) {
    String deed = injection.kind().deed();
    try {
      Runnable undoing = injector.inject(injection);
      note(deed + ", choice " + injection.target());
      toUndo.add(new Due(injection.afterMs() + injection.forMs(), undoing, deed));
    } catch (ImpossibleException e) {
      note("does not do: " + deed + ", " + e.getMessage());
    } catch (RuntimeException e) {
      note("failed: " + deed + ", " + e);
    }
  }

  private void undo(Due due) {
    try {
      due.undoing().run();
      note("ends: " + due.deed());
    } catch (RuntimeException e) {
      note("failed to end: " + due.deed() + ", " + e);
    }
  }

  private long elapsedMs() {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNs);
  }

  private void note(String event) {
    synchronized (events) {
      events.add("%.1f s: %s".formatted(elapsedMs() / 1_000.0, event));
    }
  }

  /** Whether all has been done and undone. */
  boolean isOver() {
    return !thread.isAlive();
  }

  /** What was done so far, and when. */
  List<String> events() {
    synchronized (events) {
      return List.copyOf(events);
    }
  }

  @Override
  public void close() {
    isClosing = true; // and not an interrupt, which would hit the programs that undo things
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
