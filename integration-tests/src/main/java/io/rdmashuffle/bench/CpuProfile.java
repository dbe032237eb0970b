package io.rdmashuffle.bench;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * CPU time by kind of work and by frame, out of samples of stacks and the CPU time of threads.
 *
 * <p>The sampler of the JVM takes every thread in Java code at each tick, but only one of those in
 * native code, in turn. So a sample in native code stands for as many ticks as there are threads to
 * take turns, which is how rarely a thread that never leaves native code is met. What a thread's
 * samples then add up to is scaled to the CPU time that the thread really used.
 */
final class CpuProfile {
  /**
   * A sample.
   *
   * @param frames innermost first
   * @param isNative whether the thread was in native code
   */
  record Sample(long threadId, List<String> frames, boolean isNative) {
    /** Threads that wait for sockets do it in native code, and use no CPU. */
    private boolean isIdle() {
      String top = frames.isEmpty() ? "" : frames.get(0);
      return isNative && IDLE.stream().anyMatch(top::endsWith);
    }
  }

  /**
   * Seconds of CPU in which one frame was the innermost.
   *
   * @param caller the innermost frame outside the JDK, empty when it is {@code frame} itself
   */
  record Top(String frame, String caller, Work work, double seconds) {}

  private record Place(String frame, String caller, Work work) {}

  private static final List<String> IDLE =
      List.of(".epollWait", ".epollWait0", "EPoll.wait", ".accept", ".accept0", ".poll", ".poll0");

  private final Map<Work, Double> seconds = new EnumMap<>(Work.class);
  private final Map<Place, Double> places = new HashMap<>();

  /**
   * Adds what one process did.
   *
   * @param cpuSeconds by thread
   * @param processSeconds of all threads, those of the JVM included
   */
  void add(List<Sample> samples, Map<Long, Double> cpuSeconds, double processSeconds) {
    double nativeWeight = nativeWeight(samples);
    Map<Long, List<Sample>> byThread = new HashMap<>();
    for (Sample sample : samples) {
      byThread.computeIfAbsent(sample.threadId, id -> new ArrayList<>()).add(sample);
    }
    double known = 0;
    for (Map.Entry<Long, Double> thread : cpuSeconds.entrySet()) {
      known += thread.getValue();
      share(byThread.getOrDefault(thread.getKey(), List.of()), thread.getValue(), nativeWeight);
    }
    count(Work.JVM, Math.max(0, processSeconds - known));
  }

  private static double nativeWeight(List<Sample> samples) {
    Map<Long, Integer> counts = new HashMap<>();
    int all = 0;
    int most = 0;
    for (Sample sample : samples) {
      if (sample.isNative) {
        all++;
        most = Math.max(most, counts.merge(sample.threadId, 1, Integer::sum));
      }
    }
    return most == 0 ? 1 : (double) all / most;
  }

  private void share(List<Sample> samples, double cpuSeconds, double nativeWeight) {
    List<Sample> active = samples.stream().filter(sample -> !sample.isIdle()).toList();
    List<Sample> counted = active.isEmpty() ? samples : active;
    if (counted.isEmpty()) {
      count(Work.OTHER, cpuSeconds);
      return;
    }
    double total = counted.stream().mapToDouble(s -> s.isNative ? nativeWeight : 1).sum();
    for (Sample sample : counted) {
      double share = (sample.isNative ? nativeWeight : 1) / total * cpuSeconds;
      Work work = Work.of(sample.frames);
      count(work, share);
      places.merge(place(sample.frames, work), share, Double::sum);
    }
  }

  private static Place place(List<String> frames, Work work) {
    String top = frames.isEmpty() ? "?" : frames.get(0);
    String caller = frames.stream().filter(frame -> !isOfTheJdk(frame)).findFirst().orElse("");
    return new Place(top, caller.equals(top) ? "" : caller, work);
  }

  private static boolean isOfTheJdk(String frame) {
    return frame.startsWith("java.") || frame.startsWith("jdk.") || frame.startsWith("sun.");
  }

  private void count(Work work, double cpuSeconds) {
    seconds.merge(work, cpuSeconds, Double::sum);
  }

  /** Seconds of CPU for a kind of work. */
  double seconds(Work work) {
    return seconds.getOrDefault(work, 0.0);
  }

  /** Seconds of CPU in all. */
  double seconds() {
    return seconds.values().stream().mapToDouble(Double::doubleValue).sum();
  }

  /** Where most time goes. */
  List<Top> top(int count) {
    return places.entrySet().stream()
        .map(e -> new Top(e.getKey().frame(), e.getKey().caller(), e.getKey().work(), e.getValue()))
        .sorted(Comparator.comparingDouble(Top::seconds).reversed())
        .limit(count)
        .toList();
  }
}
