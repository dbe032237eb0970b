package io.rdmashuffle.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.conf.RdmaShuffleConf;
import io.rdmashuffle.transport.PeerIdentity;
import io.rdmashuffle.transport.SlabFactories;
import io.rdmashuffle.transport.Transport;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;

class TransportsTest {
  private static final Duration LONG = Duration.ofSeconds(15);
  private static final Duration SHORT = Duration.ofMillis(20);

  @Test
  void whereADeviceReadsMemoryLiesIdleUntilReadsHaveEnded() {
    try (Transports transports = open(TransportsTest::asDevice)) {
      assertEquals(LONG, transports.quarantine(LONG));
      assertTrue(transports.haveDevice());
    }
  }

  @Test
  void overSharedMemoryAloneItLiesIdleForASecondAtMost() {
    try (Transports transports = open(UnaryOperator.identity())) {
      assertEquals(1, transports.available().size());
      assertEquals(Duration.ofSeconds(1), transports.quarantine(LONG));
      assertEquals(SHORT, transports.quarantine(SHORT));
      assertFalse(transports.haveDevice());
    }
  }

  private static Transports open(UnaryOperator<Transport> wrapper) {
    PeerIdentity self = new PeerIdentity("app", "1", new byte[PeerIdentity.TOKEN_LENGTH]);
    RdmaShuffleConf conf = RdmaShuffleConf.from(Map.of("spark.shuffle.rdma.transports", "shm,tcp"));
    return Transports.open(
        self,
        "localhost",
        SlabFactories.open(Path.of("/dev/shm"), self),
        conf,
        new SparkConf(false),
        wrapper);
  }

  /** The same, but for what it says of how it reads. */
  private static Transport asDevice(Transport bare) {
    return (Transport)
        Proxy.newProxyInstance(
            Transport.class.getClassLoader(),
            new Class<?>[] {Transport.class},
            (proxy, method, arguments) ->
                method.getName().equals("readsByDevice") ? true : method.invoke(bare, arguments));
  }
}
