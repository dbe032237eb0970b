package io.rdmashuffle.transport.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.transport.Access;
import io.rdmashuffle.transport.ChildJvm;
import io.rdmashuffle.transport.Connection;
import io.rdmashuffle.transport.FailureKind;
import io.rdmashuffle.transport.Outcome;
import io.rdmashuffle.transport.PeerIdentity;
import io.rdmashuffle.transport.ReadBatch;
import io.rdmashuffle.transport.RegisteredSlab;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportNode;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Somebody on the network who can use verbs as we can, but does not belong to the application. */
@Tag("rxe")
@Timeout(900) // an emulated processor may have to do
final class StrangerTest {
  private static final int DATA = VerbsNodes.DATA;
  private static final int GUESSES = 20;
  private static final int FLOOD = 300;

  private final VerbsNodes nodes = new VerbsNodes();
  @TempDir private Path directory;
  private TransportNode owner;
  private RegisteredSlab source;

  @BeforeEach
  void openNodes() throws Exception {
    owner = nodes.open("owner");
    source = owner.addFilledSlab(VerbsNodes.SLAB_LENGTH, 1);
  }

  @AfterEach
  void closeNodes() throws Exception {
    nodes.close();
  }

  /** Over a connection within its own application, where nobody refuses it one. */
  @Test
  void readsNothingOverAConnectionOfItsOwnEvenWithTheRightKey() throws Exception {
    TransportNode stranger = nodes.open("stranger");
    TransportNode accomplice = nodes.open("accomplice");
    RegisteredSlab target = stranger.addSlab(VerbsNodes.SLAB_LENGTH, Access.LOCAL_WRITE);
    assertReadsNothing(stranger, accomplice, source.remoteKey(), target);
    Random random = new Random(1);
    for (int i = 0; i < GUESSES; i++) {
      assertReadsNothing(stranger, accomplice, random.nextInt(), target);
    }

    TransportNode reader = nodes.open("reader");
    RegisteredSlab landing = reader.addSlab(VerbsNodes.SLAB_LENGTH, Access.LOCAL_WRITE);
    assertNull(VerbsNodes.read(VerbsNodes.connect(reader, owner), source, landing, 1, 64));
    assertEquals(
        source.slab().buffer().getLong(DATA),
        landing.slab().buffer().getLong(DATA),
        "who is let in reads with the same key");
  }

  private void assertReadsNothing(
      TransportNode stranger, TransportNode accomplice, int key, RegisteredSlab target)
      throws Exception {
    Connection connection = VerbsNodes.connect(stranger, accomplice);
    ReadBatch batch =
        new ReadBatch(1)
            .reset(VerbsNodes.soon())
            .add(source.remoteAddress() + DATA, key, 64, target, DATA);
    Outcome outcome = new Outcome();
    assertTrue(connection.offer(batch, outcome));
    assertEquals(FailureKind.READ_FAILED, outcome.await().kind());
    for (int i = 0; i < 64; i += Long.BYTES) {
      assertEquals(0, target.slab().buffer().getLong(DATA + i));
    }
    connection.close();
  }

  @Test
  void cannotKeepPeersOutByAskingAgainAndAgain() throws Exception {
    TransportNode stranger = nodes.open("stranger");
    PeerIdentity guess = new PeerIdentity("app", "owner", new byte[PeerIdentity.TOKEN_LENGTH]);
    List<CompletableFuture<Connection>> attempts = new ArrayList<>();
    for (int i = 0; i < FLOOD; i++) {
      attempts.add(
          stranger
              .transport()
              .connect(owner.transport().localEndpoint(), guess, VerbsNodes.soon()));
    }
    TransportNode reader = nodes.open("reader");
    RegisteredSlab target = reader.addSlab(VerbsNodes.SLAB_LENGTH, Access.LOCAL_WRITE);
    assertNull(VerbsNodes.read(VerbsNodes.connect(reader, owner), source, target, 4, 1000));
    int refused = 0;
    for (CompletableFuture<Connection> attempt : attempts) {
      try {
        attempt.get(60, TimeUnit.SECONDS).close();
        throw new AssertionError("let in without the token");
      } catch (ExecutionException e) {
        refused += e.getCause() instanceof TransportException ? 1 : 0;
      }
    }
    assertEquals(FLOOD, refused);
    assertEquals(1, owner.transport().counters().peerResources.sum(), "the reader's queue pair");
  }

  @Test
  void learnsNoTokenAndNoKeyFromTheLog() throws Exception {
    Path secrets = directory.resolve("secrets");
    Process process =
        new ProcessBuilder(
                ChildJvm.command(
                    List.of(
                        "-XX:TieredStopAtLevel=1",
                        "-Dlog4j2.level=DEBUG",
                        "-Dorg.slf4j.simpleLogger.defaultLogLevel=debug"),
                    Child.class,
                    secrets.toString()))
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .start();
    String log = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertTrue(process.waitFor(250, TimeUnit.SECONDS));
    assertEquals(0, process.exitValue(), log);
    assertTrue(log.contains("DEBUG") && log.contains("WRONG_PROOF"), log);
    for (String secret : Files.readAllLines(secrets)) {
      assertFalse(log.matches("(?is).*\\b(0x)?" + secret + "\\b.*"), () -> secret + " in " + log);
    }
  }

  /** The child's main: connects, reads and fails to; writes what must not be seen to a file. */
  static final class Child {
    private Child() {}

    public static void main(String[] arguments) throws Exception {
      try (VerbsNodes nodes = new VerbsNodes()) {
        TransportNode owner = nodes.openAnyhow("owner");
        TransportNode reader = nodes.openAnyhow("reader");
        RegisteredSlab source = owner.addFilledSlab(VerbsNodes.SLAB_LENGTH, 1);
        RegisteredSlab target = reader.addSlab(VerbsNodes.SLAB_LENGTH, Access.LOCAL_WRITE);
        Files.write(
            Path.of(arguments[0]),
            List.of(
                Integer.toUnsignedString(source.remoteKey()),
                Integer.toHexString(source.remoteKey()),
                Long.toString(source.remoteAddress()),
                Long.toHexString(source.remoteAddress()),
                HexFormat.of().formatHex(owner.identity().token()),
                HexFormat.of().formatHex(reader.identity().token())));
        Connection connection = VerbsNodes.connect(reader, owner);
        System.out.println(VerbsNodes.read(connection, source, target, 4, 1000));
        // Beyond the slab, with the right key.
        ReadBatch beyond =
            new ReadBatch(1)
                .reset(VerbsNodes.soon())
                .add(
                    source.remoteAddress() + VerbsNodes.SLAB_LENGTH,
                    source.remoteKey(),
                    64,
                    target,
                    DATA);
        Outcome outcome = new Outcome();
        connection.offer(beyond, outcome);
        outcome.await().printStackTrace(System.out);
        VerbsNodes.connectFails(
                reader,
                owner.transport().localEndpoint(),
                new PeerIdentity("app", "owner", new byte[PeerIdentity.TOKEN_LENGTH]),
                VerbsNodes.soon())
            .printStackTrace(System.out);
        System.out.println(source + " " + target + " " + owner.identity() + " " + connection);
      }
    }
  }
}
