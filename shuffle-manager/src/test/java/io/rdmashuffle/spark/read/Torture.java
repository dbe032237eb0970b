package io.rdmashuffle.spark.read;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.transport.ChildJvm;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Starts an owner and readers, stops and continues them at random, and sums up what they say. */
final class Torture implements AutoCloseable {
  /** Sums over all readers. */
  record Counts(long right, long wrong, long stale, int stops) {}

  private static final Pattern COUNTS =
      Pattern.compile("right=(\\d+) wrong=(\\d+) notOneSided=\\d+ stale=(\\d+) .*");

  /** Longest stop: several times the deadline of a read. */
  private static final int LONGEST_STOP_MS = 1200;

  private final Path directory;
  private final String transport;
  private final long seed;
  private final Random random;
  private final Process owner;
  private final List<Process> readers = new ArrayList<>();

  /**
   * @param directory for this torture alone
   * @param pauseMicros most between two outputs of the owner
   */
  Torture(Path directory, String transport, long pauseMicros) throws IOException {
    this.directory = directory;
    this.transport = transport;
    seed = Long.getLong("test.seed", System.nanoTime());
    System.out.println("torture over " + transport + ", seed=" + seed);
    random = new Random(seed);
    owner = start(TortureOwner.class, Long.toString(pauseMicros));
  }

  void addReader(int seconds, int wanted, String... more) throws IOException {
    List<String> arguments = new ArrayList<>();
    Stream.of(seconds, wanted).map(String::valueOf).forEach(arguments::add);
    arguments.addAll(List.of(more));
    readers.add(start(TortureReader.class, arguments.toArray(new String[0])));
  }

  private Process start(Class<?> main, String... more) throws IOException {
    List<String> arguments =
        new ArrayList<>(
            List.of(directory.toString(), transport, Long.toString(seed + readers.size())));
    arguments.addAll(List.of(more));
    List<String> command =
        ChildJvm.command(
            List.of("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
            main,
            arguments.toArray(new String[0]));
    return new ProcessBuilder(command)
        .directory(directory.toFile())
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }

  /**
   * Stops one of the processes for a while, and then another, until every reader has ended.
   *
   * @param longestRestMs most milliseconds between two stops
   */
  Counts run(int longestRestMs) throws Exception {
    int stops = 0;
    while (readers.stream().anyMatch(Process::isAlive)) {
      Thread.sleep(random.nextInt(longestRestMs));
      int number = random.nextInt(readers.size() + 1);
      Process victim = number == 0 ? owner : readers.get(number - 1);
      signal(victim, "STOP");
      Thread.sleep(random.nextInt(4) == 0 ? random.nextInt(LONGEST_STOP_MS) : random.nextInt(30));
      signal(victim, "CONT");
      stops++;
    }
    Counts sum = new Counts(0, 0, 0, stops);
    for (Process reader : readers) {
      sum = add(sum, reader);
    }
    System.out.println(sum);
    assertTrue(owner.isAlive(), "the owner ended by itself");
    return sum;
  }

  /** A process that has ended cannot be stopped any more, which is as good. */
  private static void signal(Process process, String signal) throws Exception {
    new ProcessBuilder("kill", "-" + signal, Long.toString(process.pid()))
        .redirectError(ProcessBuilder.Redirect.DISCARD)
        .start()
        .waitFor();
  }

  private static Counts add(Counts sum, Process reader) throws Exception {
    String output = new String(reader.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    System.out.print(output);
    assertTrue(reader.waitFor(10, TimeUnit.SECONDS));
    assertEquals(0, reader.exitValue(), output);
    Matcher counts = COUNTS.matcher(output.lines().reduce("", (a, b) -> b));
    assertTrue(counts.matches(), output);
    return new Counts(
        sum.right + Long.parseLong(counts.group(1)),
        sum.wrong + Long.parseLong(counts.group(2)),
        sum.stale + Long.parseLong(counts.group(3)),
        sum.stops);
  }

  /** Kills all that still runs; one that is stopped dies as well. */
  @Override
  public void close() {
    Stream.concat(Stream.of(owner), readers.stream())
        .forEach(process -> process.destroyForcibly().onExit().join());
  }
}
