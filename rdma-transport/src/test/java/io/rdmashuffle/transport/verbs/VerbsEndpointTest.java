package io.rdmashuffle.transport.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.transport.FailureKind;
import io.rdmashuffle.transport.Transport;
import io.rdmashuffle.transport.TransportException;
import java.net.InetAddress;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class VerbsEndpointTest {
  @ParameterizedTest
  @ValueSource(strings = {"10.1.2.3", "200.1.2.3", "2001:db8::1", "fd00:77::1"})
  void readsWhatItWrote(String address) throws Exception {
    VerbsEndpoint endpoint = endpoint(Fabric.ROCE, address, 65535, "mlx5_0");
    byte[] bytes = endpoint.encode();
    assertEquals(endpoint, VerbsEndpoint.decode(bytes));
    assertTrue(bytes.length <= Transport.MAX_ENDPOINT_LENGTH);
  }

  @Test
  void cutsALongDeviceName() throws Exception {
    byte[] bytes = endpoint(Fabric.IWARP, "10.1.2.3", 1, "d".repeat(1000)).encode();
    assertEquals("d".repeat(64), VerbsEndpoint.decode(bytes).device());
  }

  @ParameterizedTest
  @ValueSource(strings = {"0.0.0.0", "127.0.0.1", "224.0.0.1", "169.254.0.1", "::1", "fe80::1"})
  void refusesAddressesThatAreNoHosts(String address) throws Exception {
    assertRefused(endpoint(Fabric.ROCE, address, 1, "x").encode());
  }

  @Test
  void refusesPortZeroAndUnprintableNames() throws Exception {
    assertRefused(endpoint(Fabric.ROCE, "10.1.2.3", 0, "x").encode());
    assertRefused(endpoint(Fabric.ROCE, "10.1.2.3", 1, "a\nb").encode());
  }

  @Test
  void namesTheVersionItDoesNotKnow() throws Exception {
    byte[] bytes = endpoint(Fabric.ROCE, "10.1.2.3", 1, "x").encode();
    bytes[2] = 2;
    assertTrue(assertRefused(bytes).getMessage().contains("version 2, expected 1"));
  }

  @Test
  void refusesEveryTruncationAndExtension() throws Exception {
    byte[] good = endpoint(Fabric.ROCE, "10.1.2.3", 4711, "rxe0").encode();
    for (int length = 0; length < 2 * good.length; length++) {
      if (length != good.length) {
        assertRefused(Arrays.copyOf(good, length));
      }
    }
  }

  private static VerbsEndpoint endpoint(Fabric fabric, String address, int port, String device)
      throws Exception {
    return new VerbsEndpoint(fabric, InetAddress.getByName(address), port, device);
  }

  private static TransportException assertRefused(byte[] bytes) {
    TransportException failure =
        assertThrows(TransportException.class, () -> VerbsEndpoint.decode(bytes));
    assertEquals(FailureKind.CONNECT_REJECTED, failure.kind());
    return failure;
  }
}
