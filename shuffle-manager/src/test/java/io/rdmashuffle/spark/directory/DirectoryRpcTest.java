package io.rdmashuffle.spark.directory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.spark.directory.DirectoryException.Reason;
import io.rdmashuffle.transport.Deadline;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.rpc.RpcEnv;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Driver endpoint and client over Spark's own RPC, in one process and over a socket. */
@Timeout(120)
class DirectoryRpcTest {
  private static SparkContext context;
  private static SparkConf conf;

  @BeforeAll
  static void startSpark() {
    context =
        new SparkContext(
            new SparkConf()
                .setMaster("local[1]")
                .setAppName("directory")
                .set("spark.driver.host", "localhost")
                .set("spark.ui.enabled", "false"));
    conf = SparkEnv.get().conf();
  }

  @AfterAll
  static void stopSpark() {
    context.stop();
  }

  private static Deadline ample() {
    return Deadline.after(Samples.AMPLE);
  }

  private static void wholeLife(RpcEnv rpcEnv) throws Exception {
    Directory directory = new Directory(Samples.pagesOf(100));
    try (DirectoryEndpoint endpoint = DirectoryEndpoint.start(SparkEnv.get().rpcEnv(), directory);
        DirectoryClient client =
            new DirectoryClient(rpcEnv, conf, "1", ClientSettings.withTimeout(Samples.AMPLE))) {
      assertNotNull(endpoint.rpcEnv());
      client.register(Samples.executor("1", 1), ample());
      DirectoryException refusal =
          assertThrows(
              DirectoryException.class,
              () -> client.publish(Samples.output(0, 1), List.of(), ample()));
      assertEquals(Reason.REFUSED, refusal.reason());
      directory.registerShuffle(0);
      for (long id = 0; id < 250; id++) {
        client.publish(Samples.output(0, id), Samples.slabs(2), ample());
      }
      assertTrue(client.ensureLocated(0, LongStream.range(0, 250).toArray(), ample()));
      assertEquals("1", client.locate(0, 249, ample()).executorId());
      assertNull(client.locate(0, 250, ample()));
      assertEquals(Samples.executor("1", 2), client.peer("1", ample()).executor());
      assertNull(client.peer("2", ample()));
      client.report(Map.of("bytes", 5L));
      Deadline deadline = ample();
      while (directory.totals().isEmpty() && !deadline.isOver()) {
        Thread.sleep(5);
      }
      assertEquals(Map.of("bytes", 5L), directory.totals());
    }
  }

  @Test
  void inTheDriverItself() throws Exception {
    wholeLife(SparkEnv.get().rpcEnv());
  }

  @Test
  void fromAnExecutorsRpc() throws Exception {
    RpcEnv executor = clientRpc();
    try {
      assertNull(executor.address(), "executors do not listen");
      wholeLife(executor);
    } finally {
      executor.shutdown();
    }
  }

  private static RpcEnv clientRpc() {
    return RpcEnv.create(
        "executor", "localhost", 0, conf.clone(), SparkEnv.get().securityManager(), true);
  }

  @Test
  void withoutADirectoryItIsUnreachableAndFoundLater() throws Exception {
    ClientSettings settings = new ClientSettings(Samples.AMPLE, Duration.ofMillis(1), 1 << 20, 10);
    RpcEnv executor = clientRpc();
    try (DirectoryClient client = new DirectoryClient(executor, conf, "1", settings)) {
      DirectoryException e =
          assertThrows(DirectoryException.class, () -> client.locate(0, 1, ample()));
      assertEquals(Reason.UNREACHABLE, e.reason());
      Directory directory = new Directory(Samples.pagesOf(100));
      directory.registerShuffle(0);
      DirectoryEndpoint endpoint = DirectoryEndpoint.start(SparkEnv.get().rpcEnv(), directory);
      try {
        client.register(Samples.executor("1", 1), ample());
        client.publish(Samples.output(0, 1), List.of(), ample());
        assertNotNull(client.locate(0, 1, ample()));
        assertFalse(client.ensureLocated(0, new long[] {1, 2}, ample()));
      } finally {
        endpoint.close();
        endpoint.close();
      }
      e =
          assertThrows(
              DirectoryException.class,
              () -> client.publish(Samples.output(0, 2), List.of(), ample()));
      assertEquals(Reason.UNREACHABLE, e.reason());
    } finally {
      executor.shutdown();
    }
  }

  @Test
  void aDriverThatDoesNotListenCostsNoMoreThanTheDeadline() throws Exception {
    // An address that swallows packets or refuses at once; either way the deadline holds.
    SparkConf elsewhere = conf.clone().set("spark.driver.host", "192.0.2.1");
    RpcEnv executor = clientRpc();
    try (DirectoryClient client =
        new DirectoryClient(executor, elsewhere, "1", ClientSettings.withTimeout(Samples.AMPLE))) {
      long beganNs = System.nanoTime();
      assertThrows(
          DirectoryException.class, () -> client.locate(0, 1, Deadline.after(Samples.SOON)));
      assertThrows(
          DirectoryException.class,
          () -> client.register(Samples.executor("1", 1), Deadline.after(Samples.SOON)));
      long tookMs = (System.nanoTime() - beganNs) / 1_000_000;
      assertTrue(tookMs < 5_000, "took ms=" + tookMs);
    } finally {
      executor.shutdown();
    }
  }
}
