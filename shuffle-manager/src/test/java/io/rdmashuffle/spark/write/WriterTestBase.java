package io.rdmashuffle.spark.write;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;

/** A Spark context for tests of writers, none of which may leave a file. */
abstract class WriterTestBase {
  @TempDir static Path localDir;
  static JavaSparkContext context;

  @BeforeAll
  static void startContext() {
    context = WriterFixture.newContext(localDir);
  }

  @AfterAll
  static void stopContext() {
    context.stop();
  }

  @AfterEach
  void noFileIsLeft() throws IOException {
    assertEquals(List.of(), WriterFixture.filesUnder(localDir));
  }
}
