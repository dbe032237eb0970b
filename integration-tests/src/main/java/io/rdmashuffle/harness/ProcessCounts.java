package io.rdmashuffle.harness;

import java.io.IOException;
import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * What a process holds of ours, read from /proc.
 *
 * @param threads names of threads that begin with {@code rdma-}
 * @param mappings lines of /proc/pid/maps that name a slab
 * @param descriptors targets of open descriptors that name a slab or a verbs device
 * @param allDescriptors open descriptors of any kind
 */
public record ProcessCounts(
    List<String> threads, List<String> mappings, List<String> descriptors, int allDescriptors)
    implements Serializable {
  /** How files behind slabs are named, during the instant in which they have a name. */
  public static final String SLAB_NAME = "rdma-shuffle-slab";

  // The kernel cuts thread names to 15 characters, so a prefix is all there is to go by.
  private static final String THREAD_PREFIX = "rdma-";

  /** Counts the process now. */
  public static ProcessCounts of(long pid) {
    Path proc = Path.of("/proc/" + pid);
    List<String> names = new ArrayList<>();
    for (Path task : list(proc.resolve("task"))) {
      String name = readQuietly(task.resolve("comm")).strip();
      if (name.startsWith(THREAD_PREFIX)) {
        names.add(name);
      }
    }
    List<String> maps =
        readQuietly(proc.resolve("maps")).lines().filter(ProcessCounts::namesSlab).toList();
    List<String> open = new ArrayList<>();
    List<Path> descriptors = list(proc.resolve("fd"));
    for (Path fd : descriptors) {
      String target = linkQuietly(fd);
      if (namesSlab(target) || target.startsWith("/dev/infiniband")) {
        open.add(target);
      }
    }
    return new ProcessCounts(names, maps, open, descriptors.size());
  }

  /** True when nothing of ours is left. */
  public boolean none() {
    return threads.isEmpty() && mappings.isEmpty() && descriptors.isEmpty();
  }

  /** User and system time of a process so far, in seconds. */
  public static double cpuSeconds(long pid) {
    String stat = readQuietly(Path.of("/proc/" + pid + "/stat"));
    if (stat.isEmpty()) {
      return 0;
    }
    // The name in parentheses may hold blanks; fields 14 and 15 count from there.
    List<String> fields = List.of(stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1));
    long ticks = Long.parseLong(fields.get(11)) + Long.parseLong(fields.get(12));
    return ticks / 100.0;
  }

  private static boolean namesSlab(String text) {
    return text.contains(SLAB_NAME);
  }

  private static List<Path> list(Path dir) {
    try (Stream<Path> entries = Files.list(dir)) {
      return entries.toList();
    } catch (IOException gone) {
      return List.of();
    }
  }

  private static String readQuietly(Path file) {
    try {
      return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
    } catch (IOException gone) {
      // Threads and descriptors come and go while we look.
      return "";
    }
  }

  private static String linkQuietly(Path link) {
    try {
      return Files.readSymbolicLink(link).toString();
    } catch (IOException gone) {
      return "";
    }
  }

  /** Files of slabs that still have a name in a directory: there should be none. */
  public static List<Path> slabFilesIn(Path dir) {
    return list(dir).stream()
        .filter(file -> file.getFileName().toString().startsWith(SLAB_NAME))
        .toList();
  }
}
