package io.rdmashuffle.it.tiers;

import io.rdmashuffle.harness.ExecutorProcess;
import io.rdmashuffle.harness.LocalCluster;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Memory that the executors of an application hold now, in bytes, as the kernel counts it.
 *
 * @param largestPrivate private memory of the executor with the most, heap included
 * @param shared pages of tmpfs of all executors; one that several have mapped counts once
 */
record ExecutorMemory(long largestPrivate, long shared) {
  static ExecutorMemory of(LocalCluster cluster) throws IOException {
    long largestPrivate = 0;
    long shared = 0;
    for (ExecutorProcess executor : cluster.executors()) {
      List<String> lines = Files.readAllLines(Path.of("/proc/" + executor.pid() + "/smaps_rollup"));
      largestPrivate = Math.max(largestPrivate, bytes(lines, "Pss_Anon:"));
      // Shared in proportion to the processes that map a page, so the sum counts each page once.
      shared += bytes(lines, "Pss_Shmem:");
    }
    return new ExecutorMemory(largestPrivate, shared);
  }

  private static long bytes(List<String> lines, String name) {
    String line = lines.stream().filter(l -> l.startsWith(name)).findFirst().orElseThrow();
    return Long.parseLong(line.replaceAll("[^0-9]", "")) << 10;
  }
}
