package io.rdmashuffle.spark.read;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rdmashuffle.transport.PeerIdentity;
import io.rdmashuffle.transport.Transport;
import io.rdmashuffle.transport.verbs.VerbsTransports;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** As {@link TortureTest}, over queue pairs of a soft-RoCE device. */
@Tag("rxe")
@Timeout(900) // JVMs start slowly on an emulated processor
final class TortureOverRdmaTest {
  private static final int BLOCKS = 100_000;
  private static final int SECONDS = 700;

  @TempDir private Path directory;

  @BeforeEach
  void findDevice() {
    PeerIdentity self = TortureSetting.identity("probe");
    try (Transport probe = VerbsTransports.open(self, ReaderSide.conf().transport())) {
      assumeTrue(probe.availability().isAvailable(), probe.availability().cause());
    }
  }

  @Test
  void noStaleBlockIsDelivered() throws Exception {
    try (Torture torture = new Torture(directory, "rdma", 40_000)) {
      torture.addReader(SECONDS, BLOCKS);
      Torture.Counts counts = torture.run(2000);
      assertEquals(0, counts.wrong());
      assertTrue(counts.right() >= BLOCKS, counts.toString());
      assertTrue(counts.stale() > 100 && counts.stops() > 5, counts.toString());
    }
  }
}
