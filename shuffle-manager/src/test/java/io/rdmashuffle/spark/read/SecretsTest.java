package io.rdmashuffle.spark.read;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.transport.ChildJvm;
import io.rdmashuffle.transport.PeerIdentity;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Neither logs nor messages nor texts of objects give tokens or keys away. */
@Timeout(120)
final class SecretsTest {
  /** Enough of a token to be no coincidence: a cut one is a leak, too. */
  private static final int TELLING_BYTES = 6;

  @TempDir private Path directory;

  @Test
  void nothingThatIsLoggedOrPrintedHoldsATokenOrAKey() throws Exception {
    Path output = directory.resolve("output");
    Process process =
        new ProcessBuilder(ChildJvm.command(List.of("-Dlog4j2.level=DEBUG"), SecretsExercise.class))
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    assertTrue(process.waitFor(100, TimeUnit.SECONDS));
    String text = Files.readString(output);
    assertEquals(0, process.exitValue(), text);
    // Else there was nothing to look through.
    for (String expected : List.of(" DEBUG ", "STALE", "BAD_INDEX", "READ_FAILED", "Refused a ")) {
      assertTrue(text.contains(expected), expected + " is missing in: " + text);
    }
    for (String secret : secrets()) {
      assertFalse(
          text.toLowerCase(Locale.ROOT).contains(secret.toLowerCase(Locale.ROOT)),
          () -> secret + " in " + text);
    }
  }

  private static List<String> secrets() {
    List<String> all = new ArrayList<>();
    for (PeerIdentity identity : SecretsExercise.SECRETS) {
      addSpellings(identity.token(), all);
      addSpellings(identity.proof("slab"), all);
    }
    all.add(Long.toString(SecretsExercise.KEY.remoteAddress()));
    all.add(Long.toHexString(SecretsExercise.KEY.remoteAddress()));
    all.add(Integer.toString(SecretsExercise.KEY.remoteKey()));
    all.add(Integer.toHexString(SecretsExercise.KEY.remoteKey()));
    return all;
  }

  private static void addSpellings(byte[] secret, List<String> all) {
    byte[] beginning = Arrays.copyOf(secret, TELLING_BYTES);
    all.add(HexFormat.of().formatHex(beginning));
    all.add(HexFormat.ofDelimiter(":").formatHex(beginning));
    all.add(HexFormat.ofDelimiter(" ").formatHex(beginning));
    all.add(Base64.getEncoder().encodeToString(beginning));
    all.add(Base64.getUrlEncoder().encodeToString(beginning));
    String numbers = Arrays.toString(beginning);
    all.add(numbers.substring(1, numbers.length() - 1));
  }
}
