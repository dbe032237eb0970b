package io.rdmashuffle.harness;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * One executor of {@code local-cluster}: a child process of the driver, which hosts the workers.
 */
public record ExecutorProcess(String id, long pid) {
  // Spark's worker kills what does not end by itself within 10 s.
  private static final long END_NANOS = TimeUnit.SECONDS.toNanos(60);

  /** Executors that run now, in the order of their ids. */
  static List<ExecutorProcess> ofThisDriver() {
    List<ExecutorProcess> found = new ArrayList<>();
    for (ProcessHandle child : ProcessHandle.current().children().toList()) {
      executorId(child.pid()).ifPresent(id -> found.add(new ExecutorProcess(id, child.pid())));
    }
    found.sort(Comparator.comparingInt(e -> Integer.parseInt(e.id)));
    return found;
  }

  private static Optional<String> executorId(long pid) {
    String commandLine;
    try {
      commandLine = Files.readString(Path.of("/proc/" + pid + "/cmdline"));
    } catch (IOException gone) {
      return Optional.empty();
    }
    List<String> words = Stream.of(commandLine.split("\0", -1)).toList();
    int flag = words.indexOf("--executor-id");
    return flag < 0 ? Optional.empty() : Optional.of(words.get(flag + 1));
  }

  /** {@code kill -9}: no shutdown hook runs. */
  public void kill() {
    ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly);
  }

  /** {@code kill -STOP} and {@code -CONT}: a peer that is there but does not answer. */
  public void signal(String name) {
    Command.run("kill", "-" + name, Long.toString(pid));
  }

  /** Whether the process is there, frozen or not. */
  public boolean isAlive() {
    return ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false);
  }

  /**
   * Waits until the process is gone, as it should be soon after it was told to stop.
   *
   * @throws IllegalStateException when it is still there long after Spark should have killed it
   */
  void awaitEnd() {
    long deadline = System.nanoTime() + END_NANOS;
    while (isAlive()) {
      if (System.nanoTime() > deadline) {
        throw new IllegalStateException(
            "%s was told to stop and still runs after %d s"
                .formatted(this, TimeUnit.NANOSECONDS.toSeconds(END_NANOS)));
      }
      try {
        TimeUnit.MILLISECONDS.sleep(20);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException("interrupted while waiting for the end of " + this, e);
      }
    }
  }

  /** User and system time so far, in seconds. */
  public double cpuSeconds() {
    return ProcessCounts.cpuSeconds(pid);
  }

  /** Threads, mappings and descriptors it holds. */
  public ProcessCounts counts() {
    return ProcessCounts.of(pid);
  }
}
