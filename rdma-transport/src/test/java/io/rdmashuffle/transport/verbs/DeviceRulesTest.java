package io.rdmashuffle.transport.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is derived from what devices say, without one. */
final class DeviceRulesTest {
  private static final long[] SANE = {1L << 40, 500_000, 1000, 32768, 32, 4096, 128, 128, 2, 0};

  @ParameterizedTest
  @CsvSource({
    "auto, true",
    "AUTO, true",
    "mlx5_0, true",
    "mlx5_0:1, true",
    "mlx5_0:2, false",
    "mlx5_1, false",
    "ib0, true",
    "ib1, false",
    "10.1.2.3, true",
    "10.1.2.4, false",
    "10.1.0.0/16, true",
    "10.2.0.0/16, false",
    "10.1.2.0/23, true",
    "10.1.4.0/23, false",
    "10.1.2.3/32, true",
    "0.0.0.0/0, true",
    "10.1.2.3/x, false",
    "2001:db8::/32, false"
  })
  void theFilterAdmits(String text, boolean isAdmitted) throws Exception {
    assertEquals(isAdmitted, new DeviceFilter(text).admits(candidate("10.1.2.3")));
  }

  @Test
  void theFilterKnowsIpv6() throws Exception {
    Candidate candidate = candidate("2001:db8::7");
    assertTrue(new DeviceFilter("2001:db8::/32").admits(candidate));
    assertTrue(new DeviceFilter("2001:db8::7").admits(candidate));
    assertFalse(new DeviceFilter("2001:db9::/32").admits(candidate));
    assertFalse(new DeviceFilter("0.0.0.0/0").admits(candidate));
  }

  @Test
  void saneAttributesAreTaken() throws Exception {
    DeviceAttributes attributes = DeviceAttributes.from(SANE);
    assertEquals(32768, attributes.maxWorkRequests());
    assertEquals(128, attributes.maxReadsAsResponder());
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 5, 6, 7, 8})
  void attributesThatMakeNoSenseAreNamed(int index) {
    for (long garbage : new long[] {0, -1, Long.MAX_VALUE}) {
      long[] values = SANE.clone();
      values[index] = garbage;
      IOException failure = assertThrows(IOException.class, () -> DeviceAttributes.from(values));
      assertTrue(failure.getMessage().contains("=" + garbage), failure.getMessage());
    }
  }

  @Test
  void workRequestIdsKeepTheirParts() {
    int connection = WorkRequestId.MAX_CONNECTIONS - 1;
    int last = WorkRequestId.MAX_SLOTS - 1;
    long id = WorkRequestId.pack(connection, WorkRequestId.GENERATION_MASK, last, last);
    assertEquals(-1, id);
    id = WorkRequestId.pack(3, 7, 11, 0) + 13;
    assertEquals(3, WorkRequestId.connection(id));
    assertEquals(7, WorkRequestId.generation(id));
    assertEquals(11, WorkRequestId.slot(id));
    assertEquals(13, WorkRequestId.read(id));
  }

  private static Candidate candidate(String address) throws Exception {
    return new Candidate(
        "mlx5_0",
        1,
        "ib0",
        InetAddress.getByName(address),
        3,
        DeviceAttributes.from(SANE),
        new PortAttributes(4, 1L << 31, true, 16, 1));
  }
}
