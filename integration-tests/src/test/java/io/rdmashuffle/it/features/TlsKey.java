package io.rdmashuffle.it.features;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;

/** A key with a certificate that it signed itself, which the whole application has and trusts. */
final class TlsKey {
  private static final String HOST = "127.0.0.1";
  private static final String ALIAS = "rpc";
  private static final String TYPE = "PKCS12";
  private static final String PASSWORD = "of-the-test";
  private static final long LIMIT_SECONDS = 60;

  private final Path file;
  private final KeyStore store;

  private TlsKey(Path file, KeyStore store) {
    this.file = file;
    this.store = store;
  }

  /** Makes one with the JDK's own tool. */
  static TlsKey create(Path directory)
      throws IOException, GeneralSecurityException, InterruptedException {
    Path file = directory.resolve("key.p12");
    Process keytool =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-alias",
                ALIAS,
                "-dname",
                "CN=" + HOST,
                "-ext",
                "SAN=IP:" + HOST,
                "-keyalg",
                "EC",
                "-storetype",
                TYPE,
                "-keystore",
                file.toString(),
                "-storepass",
                PASSWORD)
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("keytool.log").toFile())
            .start();
    if (!keytool.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS) || keytool.exitValue() != 0) {
      keytool.destroyForcibly();
      throw new IOException("no key: " + Files.readString(directory.resolve("keytool.log")));
    }
    KeyStore store = KeyStore.getInstance(TYPE);
    try (InputStream in = Files.newInputStream(file)) {
      store.load(in, PASSWORD.toCharArray());
    }
    return new TlsKey(file, store);
  }

  /** What has Spark encrypt its RPC and its block transfers with it. */
  Map<String, String> settings() {
    return Map.of(
        "spark.ssl.rpc.enabled", "true",
        "spark.ssl.rpc.keyStore", file.toString(),
        "spark.ssl.rpc.keyStoreType", TYPE,
        "spark.ssl.rpc.keyStorePassword", PASSWORD,
        "spark.ssl.rpc.keyPassword", PASSWORD,
        "spark.ssl.rpc.trustStore", file.toString(),
        "spark.ssl.rpc.trustStoreType", TYPE,
        "spark.ssl.rpc.trustStorePassword", PASSWORD);
  }

  Certificate certificate() throws GeneralSecurityException {
    return store.getCertificate(ALIAS);
  }

  /** The certificate that whoever listens on a port shows; fails where there is no TLS. */
  Certificate certificateOf(int port) throws IOException, GeneralSecurityException {
    TrustManagerFactory trust =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(store);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, trust.getTrustManagers(), null);
    try (SSLSocket socket = (SSLSocket) context.getSocketFactory().createSocket(HOST, port)) {
      socket.setSoTimeout((int) TimeUnit.SECONDS.toMillis(LIMIT_SECONDS));
      socket.startHandshake();
      return socket.getSession().getPeerCertificates()[0];
    }
  }
}
