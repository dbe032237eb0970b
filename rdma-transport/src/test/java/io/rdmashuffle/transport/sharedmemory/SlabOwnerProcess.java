package io.rdmashuffle.transport.sharedmemory;

import static org.junit.jupiter.api.Assertions.assertNotNull;

import io.rdmashuffle.transport.ChildJvm;
import io.rdmashuffle.transport.PeerIdentity;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;

/** A running {@link SlabOwnerMain}, and what it said of itself. Closing kills it. */
final class SlabOwnerProcess implements AutoCloseable {
  private final Process process;
  private final byte[] endpoint;
  private final int[] keys;

  private SlabOwnerProcess(Process process, String greeting) {
    this.process = process;
    String[] words = greeting.split(" ", -1);
    endpoint = HexFormat.of().parseHex(words[0]);
    keys = Arrays.stream(words).skip(1).mapToInt(Integer::parseInt).toArray();
  }

  static SlabOwnerProcess start(Path directory, PeerIdentity self, int slabs, int slabLength)
      throws IOException {
    List<String> command =
        ChildJvm.command(
            List.of("-Xmx64m"),
            SlabOwnerMain.class,
            directory.toString(),
            self.executorId(),
            HexFormat.of().formatHex(self.token()),
            Integer.toString(slabs),
            Integer.toString(slabLength));
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    BufferedReader output =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    String greeting = output.readLine();
    assertNotNull(greeting, "the owner did not say how to reach it");
    return new SlabOwnerProcess(process, greeting);
  }

  long pid() {
    return process.pid();
  }

  /** How peers find the process. */
  byte[] endpoint() {
    return endpoint.clone();
  }

  /** Key of a slab: the owner's descriptor. */
  int key(int number) {
    return keys[number];
  }

  /** Kills the process and waits until it is gone. Idempotent. */
  @Override
  public void close() {
    process.destroyForcibly().onExit().join();
  }
}
