package io.rdmashuffle.transport.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.rdmashuffle.transport.DecoderFuzz;
import io.rdmashuffle.transport.FailureKind;
import io.rdmashuffle.transport.PeerIdentity;
import io.rdmashuffle.transport.TransportException;
import java.net.InetAddress;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What verbs peers and strangers send: endpoints, and private data of the connection manager. */
final class VerbsDecodersFuzzTest {
  private static final int REQUEST_ROOM = 56;
  private static final int ACCEPTANCE_ROOM = 196;

  private final PeerIdentity listener =
      new PeerIdentity("app", "listener", new byte[PeerIdentity.TOKEN_LENGTH]);
  private final byte[] nonce = {1, 2, 3, 4, 5, 6, 7, 8};

  @Test
  void endpoints() throws Exception {
    List<byte[]> samples =
        List.of(endpoint("2001:db8::1", "rxe0"), endpoint("10.1.2.3", "mlx5_bond_0"));
    DecoderFuzz.of("endpoint", samples)
        .declaring(TransportException.class)
        .run(
            input -> {
              try {
                VerbsEndpoint.decode(input);
                return true;
              } catch (TransportException e) {
                assertEquals(FailureKind.CONNECT_REJECTED, e.kind());
                throw e;
              }
            });
  }

  private static byte[] endpoint(String address, String device) throws Exception {
    return new VerbsEndpoint(Fabric.ROCE, InetAddress.getByName(address), 4711, device).encode();
  }

  /** None but the very request passes, whatever the fabric padded it with. */
  @Test
  void requests() {
    byte[] request = Handshake.request(listener, nonce);
    DecoderFuzz.of("request", List.of(request, Arrays.copyOf(request, REQUEST_ROOM)))
        .run(
            input -> {
              boolean isTaken = Handshake.check(input, listener) == null;
              assertEquals(beginsWith(input, request), isTaken);
              return isTaken;
            });
  }

  @Test
  void acceptances() {
    byte[] acceptance = Handshake.acceptance(Handshake.request(listener, nonce), listener);
    DecoderFuzz.of("acceptance", List.of(acceptance, Arrays.copyOf(acceptance, ACCEPTANCE_ROOM)))
        .run(
            input -> {
              boolean isTaken = Handshake.isGenuine(input, listener, nonce);
              assertEquals(beginsWith(input, acceptance), isTaken);
              return isTaken;
            });
  }

  @Test
  void rejections() {
    List<byte[]> samples = Stream.of(Rejection.values()).map(Handshake::rejection).toList();
    DecoderFuzz.of("rejection", samples).run(input -> Handshake.reasonOf(input) != null);
  }

  private static boolean beginsWith(byte[] input, byte[] good) {
    return input.length >= good.length
        && Arrays.equals(input, 0, good.length, good, 0, good.length);
  }
}
