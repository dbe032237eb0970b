package io.rdmashuffle.harness;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LogTailTest {
  private static final String WARNING = "12:00:00.000 WARN io.rdmashuffle.spark.X [main] trouble";
  private static final String ERROR = "12:00:00.001 ERROR io.rdmashuffle.store.Y [main] more";

  @TempDir Path dir;

  @Test
  void findsTheWarningsOfThePluginAndNoOthers() throws IOException {
    Path log = log(WARNING, "12:00:00.000 INFO io.rdmashuffle.spark.X [main] fine");
    append(log, "12:00:00.000 WARN org.apache.spark.X [main] not ours io.rdmashuffle.\n");
    append(log, ERROR + "\n\tat io.rdmashuffle.store.Y.run\n");
    assertEquals(
        List.of(new LogWarning(log, WARNING), new LogWarning(log, ERROR)),
        LogTail.fromBeginning(log).newWarnings());
  }

  @Test
  void givesEachOnceAndOnlyWholeLines() throws IOException {
    Path log = log(WARNING);
    LogTail tail = LogTail.fromBeginning(log);
    assertEquals(1, tail.newWarnings().size());
    append(log, ERROR.substring(0, 40));
    assertEquals(List.of(), tail.newWarnings());
    append(log, ERROR.substring(40) + "\n");
    assertEquals(List.of(new LogWarning(log, ERROR)), tail.newWarnings());
  }

  @Test
  void leavesOutWhatWasThereBefore() throws IOException {
    Path log = log(WARNING);
    LogTail tail = LogTail.fromEnd(log);
    assertEquals(List.of(), tail.newWarnings());
    append(log, ERROR + "\n");
    assertEquals(List.of(new LogWarning(log, ERROR)), tail.newWarnings());
  }

  @Test
  void aLogThatIsNotThereYetIsEmpty() {
    assertEquals(List.of(), LogTail.fromEnd(dir.resolve("none")).newWarnings());
  }

  private Path log(String... lines) throws IOException {
    return Files.write(dir.resolve("log"), List.of(lines));
  }

  private static void append(Path log, String text) throws IOException {
    Files.writeString(log, text, StandardOpenOption.APPEND);
  }
}
