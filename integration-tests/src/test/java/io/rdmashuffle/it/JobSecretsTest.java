package io.rdmashuffle.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.harness.LocalCluster;
import java.io.IOException;
import java.lang.reflect.Field;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.SparkEnv;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The tokens of a running job's executors are in no log of theirs and on no page of Spark's UI. */
@Tag("slow")
class JobSecretsTest {
  private static final int EXECUTORS = 2;

  /** Enough of a token to be no coincidence. */
  private static final int TELLING_BYTES = 6;

  private static final String LOG_ALL =
      """
      status = error
      appender.console.type = Console
      appender.console.name = console
      appender.console.target = SYSTEM_ERR
      appender.console.layout.type = PatternLayout
      appender.console.layout.pattern = %p %c{1} %m%n%ex
      rootLogger.level = debug
      rootLogger.appenderRef.console.ref = console
      logger.netty.name = io.netty
      logger.netty.level = info
      """;

  @TempDir private Path directory;

  @Test
  void noTokenIsLoggedOrShown() throws Exception {
    Path logging = Files.writeString(directory.resolve("log4j2.properties"), LOG_ALL);
    Map<String, String> settings =
        Map.of(
            "spark.ui.enabled",
            "true",
            "spark.ui.port",
            "0",
            "spark.executor.extraJavaOptions",
            "-Dlog4j2.configurationFile=" + logging.toUri());
    try (LocalCluster cluster = PluginApp.start("secrets", settings)) {
      assertEquals(
          PluginApp.expected(cluster, 4, 200),
          PluginApp.digest(PluginApp.moved(cluster, 4, 4, 200)));
      List<String> secrets = secrets();
      for (int executor = 0; executor < EXECUTORS; executor++) {
        String log = Files.readString(cluster.executorLogs().resolve(executor + "/stderr"));
        assertTrue(log.contains("DEBUG"), log);
        assertNoneIn(log, secrets);
      }
      for (String page : pages(cluster)) {
        assertNoneIn(page, secrets);
      }
    }
  }

  private static void assertNoneIn(String text, List<String> secrets) {
    String lower = text.toLowerCase(Locale.ROOT);
    for (String secret : secrets) {
      assertFalse(lower.contains(secret.toLowerCase(Locale.ROOT)), () -> secret + " in " + text);
    }
  }

  private static List<String> secrets() throws Exception {
    Object manager = SparkEnv.get().shuffleManager();
    Object driverDirectory = fieldOf(fieldOf(manager, "driverRuntime"), "directory");
    List<String> secrets = new ArrayList<>();
    for (int executor = 0; executor < EXECUTORS; executor++) {
      Optional<?> peer =
          (Optional<?>)
              driverDirectory
                  .getClass()
                  .getMethod("peer", String.class)
                  .invoke(driverDirectory, Integer.toString(executor));
      Object record = valueOf(peer.orElseThrow(), "executor");
      addSpellings((byte[]) valueOf(record, "token"), secrets);
    }
    return secrets;
  }

  /** The plugin's classes are not those of this class's loader. */
  private static Object fieldOf(Object owner, String name) throws ReflectiveOperationException {
    Field field = owner.getClass().getDeclaredField(name);
    field.setAccessible(true);
    return field.get(owner);
  }

  private static Object valueOf(Object owner, String name) throws ReflectiveOperationException {
    return owner.getClass().getMethod(name).invoke(owner);
  }

  private static void addSpellings(byte[] token, List<String> all) {
    byte[] beginning = Arrays.copyOf(token, TELLING_BYTES);
    all.add(HexFormat.of().formatHex(beginning));
    all.add(Base64.getEncoder().encodeToString(beginning));
    String numbers = Arrays.toString(beginning);
    all.add(numbers.substring(1, numbers.length() - 1));
  }

  private static List<String> pages(LocalCluster cluster) throws Exception {
    String root = cluster.context().uiWebUrl().get();
    String api = "/api/v1/applications/" + cluster.context().applicationId();
    List<String> pages = new ArrayList<>();
    for (String path :
        List.of(
            "/jobs/",
            "/stages/",
            "/storage/",
            "/environment/",
            "/executors/",
            api + "/environment",
            api + "/allexecutors",
            api + "/stages")) {
      pages.add(page(URI.create(root + path)));
    }
    return pages;
  }

  private static String page(URI address) throws IOException, InterruptedException {
    HttpRequest request = HttpRequest.newBuilder(address).timeout(Duration.ofSeconds(30)).build();
    HttpResponse<String> response =
        HttpClient.newHttpClient()
            .send(request, HttpResponse.BodyHandlers.ofString(StandardCharsets.UTF_8));
    assertEquals(200, response.statusCode(), address.toString());
    return response.body();
  }
}
