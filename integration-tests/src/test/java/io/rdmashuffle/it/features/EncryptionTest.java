package io.rdmashuffle.it.features;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rdmashuffle.harness.LocalCluster;
import io.rdmashuffle.harness.PluginTotals;
import io.rdmashuffle.harness.SparkLine;
import io.rdmashuffle.it.Feature;
import io.rdmashuffle.it.PluginApp;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Spark's encryption: right results, and no plain bytes where it was told to have none. */
@Tag("slow")
class EncryptionTest {
  private static final Map<String, String> AUTHENTICATED =
      Map.of(
          "spark.authenticate", "true",
          "spark.authenticate.secret", "of-the-test");

  private static final String TRANSPORTS = "spark.shuffle.rdma.transports";
  private static final String WITHOUT_SHARED_MEMORY = "rdma,tcp";

  private static final Map<String, String> ENCRYPTED_NETWORK =
      with(AUTHENTICATED, "spark.network.crypto.enabled", "true");

  @Test
  @Feature("Encryption: spark.authenticate")
  void authenticatedExecutorsReadOneSided() {
    assertOneSided("encryption-authenticate", AUTHENTICATED);
  }

  @Test
  @Feature("Encryption: spark.network.crypto.enabled")
  void plainBlocksStayOffTheFabricWhenTheNetworkIsToBeEncrypted() {
    try (LocalCluster cluster =
        PluginApp.start(
            "encryption-network", with(ENCRYPTED_NETWORK, TRANSPORTS, WITHOUT_SHARED_MEMORY))) {
      assertAllByTcp(cluster);
    }
  }

  @Test
  @Feature("Encryption: spark.ssl.rpc.enabled (from Spark 4.0 on)")
  void plainBlocksStayOffTheFabricWhenTheNetworkIsToUseTls(@TempDir Path directory)
      throws Exception {
    assumeTrue(SparkLine.current().isAtLeast(4, 0), "Spark before 4.0 has no TLS for RPC");
    TlsKey key = TlsKey.create(directory);
    assertOneSided("encryption-tls-shared", key.settings());
    try (LocalCluster cluster =
        PluginApp.start(
            "encryption-tls", with(key.settings(), TRANSPORTS, WITHOUT_SHARED_MEMORY))) {
      int port = Integer.parseInt(cluster.context().getConf().get("spark.driver.port"));
      assertEquals(key.certificate(), key.certificateOf(port), "what the driver shows");
      assertAllByTcp(cluster);
    }
  }

  @Test
  void memoryThatExecutorsShareIsNoNetwork() {
    assertOneSided("encryption-shared", ENCRYPTED_NETWORK);
  }

  @Test
  @Feature("Encryption: spark.io.encryption.enabled")
  void blocksThatAreEncryptedThemselvesAreReadOneSided() {
    assertOneSided(
        "encryption-both", with(ENCRYPTED_NETWORK, "spark.io.encryption.enabled", "true"));
  }

  private static void assertAllByTcp(LocalCluster cluster) {
    PluginTotals totals = assertRight(cluster);
    assertEquals(0, totals.oneSidedBytes(), () -> PluginApp.summary(totals));
    assertTrue(
        totals.fallbacks().containsKey("CLEARTEXT_FORBIDDEN"), () -> PluginApp.summary(totals));
  }

  private static void assertOneSided(String name, Map<String, String> settings) {
    try (LocalCluster cluster = PluginApp.start(name, settings)) {
      PluginTotals totals = assertRight(cluster);
      assertTrue(totals.oneSidedBytes() > 0, () -> PluginApp.summary(totals));
      assertEquals(0, totals.bytes("tcp"), () -> PluginApp.summary(totals));
    }
  }

  private static PluginTotals assertRight(LocalCluster cluster) {
    RemoteReads.assertRight(cluster);
    PluginTotals totals = cluster.totals();
    assertEquals(cluster.metrics().remoteBytes(), totals.allBytes());
    return totals;
  }

  private static Map<String, String> with(Map<String, String> settings, String key, String value) {
    Map<String, String> more = new HashMap<>(settings);
    more.put(key, value);
    return more;
  }
}
