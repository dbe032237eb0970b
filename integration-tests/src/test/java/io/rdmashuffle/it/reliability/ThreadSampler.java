package io.rdmashuffle.it.reliability;

import java.io.Serializable;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/** Watches Spark's own threads of this process for how long they stand still in our code. */
final class ThreadSampler {
  /** The longest time one of Spark's threads stood still in our code, and where. */
  record Standstill(String thread, long millis, String frames) implements Serializable {}

  private static final Pattern SPARKS =
      Pattern.compile(
          "(dispatcher-|rpc-|netty-|shuffle-|block-manager|map-output|spark-listener).*");
  private static final long INTERVAL_MS = 5;
  private static final int FRAMES = 12;

  private static ThreadSampler running; // guarded by the class

  private final Map<Long, Long> stillSinceNs = new HashMap<>();
  private final Map<String, Standstill> longest = new TreeMap<>();
  private final Thread thread = new Thread(this::run, "sampler");
  private volatile boolean isOver;

  private ThreadSampler() {
    thread.setDaemon(true);
  }

  /** Starts to watch this process. */
  static synchronized boolean start() {
    running = new ThreadSampler();
    running.thread.start();
    return true;
  }

  /** Stops; by kind of thread. */
  static synchronized Map<String, Standstill> stop() throws InterruptedException {
    running.isOver = true;
    running.thread.join();
    return new HashMap<>(running.longest);
  }

  private void run() {
    while (!isOver) {
      sample();
      try {
        TimeUnit.MILLISECONDS.sleep(INTERVAL_MS);
      } catch (InterruptedException e) {
        return;
      }
    }
  }

  private void sample() {
    long nowNs = System.nanoTime();
    Map<Long, Long> stillNow = new HashMap<>();
    Thread.getAllStackTraces()
        .forEach(
            (seen, frames) -> {
              if (SPARKS.matcher(seen.getName()).matches() && isOurs(frames)) {
                if (seen.getState() != Thread.State.RUNNABLE) {
                  long since = stillSinceNs.getOrDefault(seen.getId(), nowNs);
                  stillNow.put(seen.getId(), since);
                  note(seen.getName(), nowNs - since, frames);
                }
              }
            });
    stillSinceNs.clear();
    stillSinceNs.putAll(stillNow);
  }

  private static boolean isOurs(StackTraceElement[] frames) {
    return Arrays.stream(frames)
        .anyMatch(
            frame ->
                frame.getClassName().startsWith("io.rdmashuffle.")
                    && !frame.getClassName().startsWith("io.rdmashuffle.it."));
  }

  private void note(String name, long standstillNs, StackTraceElement[] frames) {
    String kind = name.replaceAll("[-\\d]+$", "");
    long millis = TimeUnit.NANOSECONDS.toMillis(standstillNs);
    Standstill known = longest.get(kind);
    if (known == null || known.millis() < millis) {
      String top = Arrays.toString(Arrays.copyOf(frames, Math.min(FRAMES, frames.length)));
      longest.put(kind, new Standstill(name, millis, top));
    }
  }
}
