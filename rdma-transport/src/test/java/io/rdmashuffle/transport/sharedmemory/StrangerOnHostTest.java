package io.rdmashuffle.transport.sharedmemory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rdmashuffle.transport.PeerIdentity;
import io.rdmashuffle.transport.SlabMemory;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Another user of the host, who knows process and descriptor of a slab, tries to open it. */
@Timeout(60)
class StrangerOnHostTest {
  private static final int SLAB_LENGTH = 2 * SlabMemory.HEADER_LENGTH;
  private static final String SOMEBODY_ELSE = "12345";

  private record Result(int exitCode, String output, String errors) {}

  @TempDir private Path directory;
  private SlabOwnerProcess owner;

  @BeforeEach
  void open() throws Exception {
    PeerIdentity self = new PeerIdentity("app", "owner", new byte[PeerIdentity.TOKEN_LENGTH]);
    owner = SlabOwnerProcess.start(directory, self, 1, SLAB_LENGTH);
  }

  @AfterEach
  void close() throws Exception {
    owner.close();
  }

  @Test
  void anotherUserCannotOpenASlab() throws Exception {
    Path id = Path.of("/proc/self");
    assumeTrue(Files.getAttribute(id, "unix:uid").equals(0), "only root can be somebody else");
    assumeTrue(Files.isExecutable(Path.of("/usr/bin/setpriv")), "there is no setpriv");
    String slab = "/proc/" + owner.pid() + "/fd/" + owner.key(0);

    Result ours = read(List.of(), slab);
    assertEquals(0, ours.exitCode, ours.errors);
    assertEquals("RDMASLB1", ours.output);

    List<String> asSomebodyElse =
        List.of(
            "setpriv",
            "--reuid=" + SOMEBODY_ELSE,
            "--regid=" + SOMEBODY_ELSE,
            "--clear-groups",
            "--inh-caps=-all");
    Result theirs = read(asSomebodyElse, slab);
    assertNotEquals(0, theirs.exitCode);
    assertEquals("", theirs.output);
    assertTrue(theirs.errors.contains("Permission denied"), theirs.errors);
  }

  /** The first bytes of a file, which tell what a program of that user is told. */
  private static Result read(List<String> prefix, String file)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(prefix);
    command.addAll(List.of("head", "-c", "8", file));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().put("LC_ALL", "C");
    Process process = builder.start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    String errors = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
    assertTrue(process.waitFor(10, TimeUnit.SECONDS));
    return new Result(process.exitValue(), output, errors);
  }
}
