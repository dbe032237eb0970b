package io.rdmashuffle.bench;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.io.Serializable;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import jdk.jfr.Recording;
import org.apache.spark.SparkEnv;

/** Samples the threads of an executor with the JVM's flight recorder; called by its tasks. */
final class ExecutorRecording {
  /**
   * What was recorded.
   *
   * @param file with the samples
   * @param cpuSeconds by thread id, of Java threads
   * @param processSeconds CPU of the whole process
   */
  record Recorded(
      String executorId, String file, Map<Long, Double> cpuSeconds, double processSeconds)
      implements Serializable {}

  private static final Duration PERIOD = Duration.ofMillis(10);

  private static ExecutorRecording running;
  private static Recorded last;

  private final Recording recording = new Recording();
  private final Map<Long, Double> cpuBefore = cpuSeconds();
  private final double processBefore = processSeconds();

  private ExecutorRecording() {
    recording.enable("jdk.ExecutionSample").withPeriod(PERIOD);
    recording.enable("jdk.NativeMethodSample").withPeriod(PERIOD);
    recording.start();
  }

  /** Starts, unless it is running. */
  static synchronized String start() {
    if (running == null) {
      running = new ExecutorRecording();
    }
    return SparkEnv.get().executorId();
  }

  /** Ends it; when none is running, gives what the last one found. */
  static synchronized Recorded stop(String directory) throws IOException {
    if (running != null) {
      last = running.end(Path.of(directory));
      running = null;
    }
    return last;
  }

  private Recorded end(Path directory) throws IOException {
    String executorId = SparkEnv.get().executorId();
    Path file = Files.createTempFile(directory, "executor-" + executorId + "-", ".jfr");
    try (recording) {
      recording.stop();
      recording.dump(file);
    }
    Map<Long, Double> used = cpuSeconds();
    cpuBefore.forEach((id, before) -> used.computeIfPresent(id, (same, now) -> now - before));
    return new Recorded(
        executorId, file.toString(), new HashMap<>(used), processSeconds() - processBefore);
  }

  private static Map<Long, Double> cpuSeconds() {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    Map<Long, Double> seconds = new HashMap<>();
    for (long id : threads.getAllThreadIds()) {
      seconds.put(id, Math.max(0, threads.getThreadCpuTime(id)) / 1e9);
    }
    return seconds;
  }

  private static double processSeconds() {
    return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime()
        / 1e9;
  }
}
