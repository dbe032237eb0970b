package io.rdmashuffle.it.rxe;

import io.rdmashuffle.harness.Command;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Looks at the soft-RoCE devices, as root. */
final class Rxe {
  private static final List<String> KINDS = List.of("qp", "cq", "mr", "pd", "cm_id");

  private Rxe() {}

  /** Device objects of one kind that processes hold; the kernel's own are left out. */
  static List<String> heldByProcesses(String kind) {
    // The kernel's entries name a component in brackets in place of a process.
    return Command.run("rdma", "resource", "show", kind)
        .lines()
        .filter(l -> l.contains(" pid "))
        .toList();
  }

  /** Device objects of all kinds that processes hold. */
  static List<String> heldByProcesses() {
    List<String> all = new ArrayList<>();
    for (String kind : KINDS) {
      heldByProcesses(kind).forEach(line -> all.add(kind + ": " + line));
    }
    return all;
  }

  /** Connected queue pairs of a process. */
  static Stream<String> connections(long pid) {
    return heldByProcesses("qp").stream()
        .filter(line -> line.contains(" type RC "))
        .filter(
            line -> {
              // What the kernel calls pid is the thread that made it.
              String thread = line.replaceFirst(".* pid (\\d+) .*", "$1");
              return Files.exists(Path.of("/proc/" + pid + "/task/" + thread));
            });
  }
}
