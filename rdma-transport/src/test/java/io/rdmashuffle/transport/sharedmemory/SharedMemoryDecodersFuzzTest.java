package io.rdmashuffle.transport.sharedmemory;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.rdmashuffle.transport.DecoderFuzz;
import io.rdmashuffle.transport.PeerIdentity;
import io.rdmashuffle.transport.ProcFileSystem;
import io.rdmashuffle.transport.ProcessIdentity;
import io.rdmashuffle.transport.TransportException;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** What a process says of itself before its memory is mapped. */
final class SharedMemoryDecodersFuzzTest {
  private final PeerIdentity peer =
      new PeerIdentity("app", "3", new byte[PeerIdentity.TOKEN_LENGTH]);

  @Test
  void endpoints() {
    ProcessIdentity process = new ProcessIdentity(new UUID(1, 2), 3, 4, 5);
    byte[] good = SharedMemoryEndpoint.of(process, peer).encode();
    DecoderFuzz.of("endpoint", List.of(good))
        .run(
            input -> {
              SharedMemoryEndpoint decoded = SharedMemoryEndpoint.decode(input);
              if (decoded == null) {
                return false;
              }
              assertArrayEquals(input, decoded.encode());
              assertEquals(Arrays.equals(input, good), decoded.isSignedBy(peer));
              return true;
            });
  }

  /** None passes for the peer but its very own endpoint. */
  @Test
  void peers() throws Exception {
    ProcessIdentity self = ProcFileSystem.SYSTEM.self();
    byte[] good = SharedMemoryEndpoint.of(self, peer).encode();
    PeerCheck check = new PeerCheck(self, peer);
    DecoderFuzz.of("peer", List.of(good))
        .declaring(TransportException.class)
        .allocating(64 << 10, 16) // the one that passes is looked up in /proc
        .run(
            input -> {
              assertEquals(self, check.processOf(input));
              assertArrayEquals(good, input);
              return true;
            });
  }
}
