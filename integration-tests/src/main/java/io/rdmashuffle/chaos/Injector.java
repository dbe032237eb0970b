package io.rdmashuffle.chaos;

import io.rdmashuffle.harness.Command;
import io.rdmashuffle.harness.ExecutorProcess;
import io.rdmashuffle.harness.LocalCluster;
import java.util.List;

/** Does to one application what a plan says. Used by one thread. */
final class Injector {
  private static final String MEMLOCK_BYTES = "65536";
  // Enough for the native libraries that codecs unpack, which they try once in a process's life.
  private static final String FILE_SIZE_BYTES = Integer.toString(2 << 20);

  private final LocalCluster cluster;
  private final Arena arena;

  Injector(LocalCluster cluster, Arena arena) {
    this.cluster = cluster;
    this.arena = arena;
  }

  /**
   * Does it.
   *
   * @return what undoes it
   * @throws ImpossibleException when this machine does not let us, or nobody is there to hit
   */
  Runnable inject(Injection injection) throws ImpossibleException {
    return switch (injection.kind()) {
      case KILL -> kill(target(injection));
      case FREEZE -> freeze(target(injection));
      case FILL_MEMORY -> fill(arena.memory());
      case FILL_DISK -> fill(arena.disk());
      case LOWER_MEMLOCK -> lower(target(injection), "memlock", MEMLOCK_BYTES);
      case LOWER_FILE_SIZE -> lower(target(injection), "fsize", FILE_SIZE_BYTES);
      case LINK_DOWN -> takeLinkDown();
      case LINK_LOSS -> disturbLink("loss", "5%");
      case LINK_DELAY -> disturbLink("delay", "20ms", "10ms");
    };
  }

  private ExecutorProcess target(Injection injection) throws ImpossibleException {
    List<ExecutorProcess> alive = cluster.executors();
    if (alive.isEmpty()) {
      throw new ImpossibleException("no executor is running just now");
    }
    return alive.get(injection.target() % alive.size());
  }

  private static Runnable kill(ExecutorProcess executor) {
    executor.kill();
    return () -> {};
  }

  private static Runnable freeze(ExecutorProcess executor) {
    executor.signal("STOP");
    return () -> signalIfAlive(executor);
  }

  /** Another injection may have killed it, frozen as it was. */
  private static void signalIfAlive(ExecutorProcess executor) {
    if (executor.isAlive()) {
      Command.tryTo("kill", "-CONT", Long.toString(executor.pid()));
    }
  }

  private static Runnable fill(SmallFileSystem files) throws ImpossibleException {
    files.fill();
    return files::drain;
  }

  private static Runnable lower(ExecutorProcess executor, String limit, String bytes)
      throws ImpossibleException {
    String pid = Long.toString(executor.pid());
    try {
      String before =
          Command.run(
              "prlimit", "--pid", pid, "--" + limit, "--output", "SOFT", "--noheadings", "--raw");
      Command.run("prlimit", "--pid", pid, "--" + limit + "=" + bytes + ":");
      return () -> Command.tryTo("prlimit", "--pid", pid, "--" + limit + "=" + before + ":");
    } catch (IllegalStateException e) {
      throw new ImpossibleException(e.getMessage());
    }
  }

  private static Runnable takeLinkDown() throws ImpossibleException {
    requireLink();
    Link.down();
    return Link::up;
  }

  private static Runnable disturbLink(String... rule) throws ImpossibleException {
    requireLink();
    Link.disturb(rule);
    return Link::calm;
  }

  private static void requireLink() throws ImpossibleException {
    if (!Link.isPresent()) {
      throw new ImpossibleException("no pair of RDMA devices here; see bin/rxe-vm --pair");
    }
  }
}
