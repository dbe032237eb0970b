package io.rdmashuffle.it.rxe;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Looks at the soft-RoCE devices and changes them, as root, by the system's own programs. */
final class Rxe {
  private static final List<String> KINDS = List.of("qp", "cq", "mr", "pd", "cm_id");

  private Rxe() {}

  /** Runs a program that must succeed; gives what it prints. */
  static String run(String... command) {
    return run(0, command);
  }

  /** Runs a program whose success does not matter. */
  static void tryTo(String... command) {
    run(-1, command);
  }

  private static String run(int expectedCode, String... command) {
    try {
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      process.getOutputStream().close();
      String text =
          new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
      int code = process.waitFor();
      if (expectedCode >= 0) {
        assertEquals(expectedCode, code, () -> String.join(" ", command) + ": " + text);
      }
      return text;
    } catch (IOException e) {
      throw new AssertionError("cannot run " + String.join(" ", command), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
  }

  /** Device objects of one kind that processes hold; the kernel's own are left out. */
  static List<String> heldByProcesses(String kind) {
    // The kernel's entries name a component in brackets in place of a process.
    return run("rdma", "resource", "show", kind).lines().filter(l -> l.contains(" pid ")).toList();
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
