package io.rdmashuffle.transport.verbs;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.transport.ChildJvm;
import io.rdmashuffle.transport.Transport;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a process without privileges meets; in a process of its own. */
@Tag("rxe")
@Timeout(900) // a JVM starts slowly on an emulated processor
final class MemlockTest {
  @Test
  void aLimitOf64KibSaysWhatToRaise() throws Exception {
    String answer = availability("65536");
    assertTrue(answer.startsWith("MEMLOCK_TOO_LOW"), answer);
    assertTrue(answer.contains("RLIMIT_MEMLOCK=65536"), answer);
    assertTrue(answer.contains("ulimit -l"), answer);
  }

  @Test
  void noLimitNeedsNoPrivilege() throws Exception {
    assertTrue(availability("unlimited").startsWith("null"));
  }

  /** The child's main: prints kind and cause. */
  static final class Child {
    private Child() {}

    public static void main(String[] arguments) {
      try (Transport transport =
          VerbsTransports.open(VerbsNodes.identity("child"), VerbsNodes.conf())) {
        System.out.println(
            transport.availability().failureKind() + " " + transport.availability().cause());
      }
    }
  }

  private static String availability(String limit) throws Exception {
    List<String> command = new ArrayList<>();
    Stream.of("prlimit", "--memlock=" + limit + ":" + limit).forEach(command::add);
    // Whoever has this capability is not bound by the limit.
    Stream.of("setpriv", "--bounding-set=-ipc_lock", "--inh-caps=-ipc_lock").forEach(command::add);
    command.addAll(ChildJvm.command(List.of("-XX:TieredStopAtLevel=1"), Child.class));
    Process process =
        new ProcessBuilder(command).directory(new File("/tmp")).redirectErrorStream(true).start();
    String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertTrue(process.waitFor(250, TimeUnit.SECONDS));
    return text.lines()
        .filter(
            line -> line.startsWith("MEMLOCK") || line.startsWith("null") || line.startsWith("N"))
        .findFirst()
        .orElse(text);
  }
}
