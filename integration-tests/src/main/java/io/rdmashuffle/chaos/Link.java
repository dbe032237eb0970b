package io.rdmashuffle.chaos;

import io.rdmashuffle.harness.Command;
import io.rdmashuffle.harness.ExecutorLauncher;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The two soft-RoCE devices of {@code bin/rxe-vm --pair} and what lies between them, if present.
 */
final class Link {
  private static final List<String> ENDS = List.of("va", "vb");
  private static final List<String> DEVICES = List.of("rxva", "rxvb");
  private static final Path KNOWN_DEVICES = Path.of("/sys/class/infiniband");

  private Link() {}

  static boolean isPresent() {
    return DEVICES.stream().allMatch(device -> Files.exists(KNOWN_DEVICES.resolve(device)));
  }

  /** Has executors take turns at the devices, and read over them alone. */
  static Map<String, String> settings(Path directory) {
    try {
      Map<String, String> settings =
          new TreeMap<>(
              new ExecutorLauncher()
                  .withDevice(1, DEVICES.get(1))
                  .withDefaultDevice(DEVICES.get(0))
                  .install(directory));
      settings.put("spark.shuffle.rdma.transports", "rdma");
      settings.put("spark.shuffle.rdma.ackTimeout", "14");
      // Soft-RoCE takes 7 for "for ever".
      settings.put("spark.shuffle.rdma.retryCount", "6");
      return settings;
    } catch (IOException e) {
      throw new UncheckedIOException("cannot write the executors' launcher to " + directory, e);
    }
  }

  static void down() {
    Command.run("ip", "link", "set", ENDS.get(0), "down");
  }

  static void up() {
    Command.run("ip", "link", "set", ENDS.get(0), "up");
  }

  /**
   * @param rule netem's, such as {@code loss 5%}
   */
  static void disturb(String... rule) {
    for (String end : ENDS) {
      List<String> command =
          new ArrayList<>(List.of("tc", "qdisc", "replace", "dev", end, "root", "netem"));
      command.addAll(List.of(rule));
      Command.run(command.toArray(new String[0]));
    }
  }

  static void calm() {
    for (String end : ENDS) {
      Command.tryTo("tc", "qdisc", "del", "dev", end, "root");
    }
  }
}
