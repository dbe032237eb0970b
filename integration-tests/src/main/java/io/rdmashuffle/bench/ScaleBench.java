package io.rdmashuffle.bench;

import io.rdmashuffle.harness.ClusterSpec;
import io.rdmashuffle.harness.Console;
import io.rdmashuffle.harness.Options;
import io.rdmashuffle.harness.ShuffleMode;
import io.rdmashuffle.harness.Table;
import io.rdmashuffle.spark.directory.DirectoryException;
import io.rdmashuffle.spark.directory.DirectorySimulation;
import java.io.IOException;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** Whether a block and a map output cost the same, however many there are. */
public final class ScaleBench {
  private static final int EXECUTORS = 1_000;
  private static final int OUTPUTS = 100_000;
  private static final int[] WARM_UP_BLOCKS = {1_000, 50_000};

  private final Console console;
  private final Options options;
  private final List<Integer> blocks;
  private final List<Integer> outputs;
  private final double seconds;
  private final TimeLimit limit;

  private ScaleBench(Options options, Console console) {
    this.console = console;
    this.options = options;
    boolean isQuick = options.has("--quick");
    blocks = numbers("--blocks", isQuick ? "1000,10000,100000" : "1000,10000,100000,1000000");
    outputs = numbers("--outputs", isQuick ? "1000,10000" : "1000,10000,100000");
    seconds = isQuick ? 1 : 3;
    limit = TimeLimit.from(options, isQuick ? 5 : 10);
  }

  /** See {@code bin/bench --help}. */
  public static void main(String[] args) throws IOException {
    BenchMain.run(
        "scale",
        args,
        Set.of("--blocks", "--outputs"),
        Set.of(),
        (options, console) -> new ScaleBench(options, console).run());
  }

  private List<Integer> numbers(String name, String byDefault) {
    String text = options.last(name).orElse(byDefault);
    try {
      List<Integer> numbers =
          Arrays.stream(text.split(",", -1)).map(Integer::valueOf).sorted().toList();
      if (numbers.stream().allMatch(n -> n > 0 && n % BlockScale.PARTITIONS == 0)) {
        return numbers;
      }
    } catch (NumberFormatException e) {
      // Reported below with what was expected.
    }
    throw new IllegalArgumentException(
        "%s: expected multiples of %d with commas between, found '%s'"
            .formatted(name, BlockScale.PARTITIONS, text));
  }

  private BenchMain.Outcome run() {
    Map<Integer, DirectoryScale.Cost> perOutput = new LinkedHashMap<>();
    DirectorySimulation.LookedUp lookedUp;
    try {
      console.begin("warming the directory up");
      DirectoryScale.warmUp();
      console.end("done");
      for (int count : outputs) {
        console.begin("publishing %,d map outputs".formatted(count));
        perOutput.put(count, DirectoryScale.measure(count));
        console.end("done");
      }
      console.begin("looking up %,d map outputs of %,d executors".formatted(OUTPUTS, EXECUTORS));
      DirectorySimulation simulation = new DirectorySimulation(EXECUTORS);
      simulation.publish(OUTPUTS);
      // The first time is the compiler's.
      simulation.lookUp();
      lookedUp = simulation.lookUp();
      console.end("done");
    } catch (DirectoryException e) {
      throw new IllegalStateException("the simulated directory did not answer", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
    Map<Integer, ScaleTask.Result> perBlock = perBlock();
    console.say("");
    console.say(outputTable(perOutput.values()).toString());
    console.say(lookUpTable(lookedUp).toString());
    console.say(blockTable(perBlock).toString());
    console.say(
        "First read: the driver is asked where blocks lie, and index blocks are read; again: with"
            + " both cached. Of one reduce task that reads all partitions.");
    return new BenchMain.Outcome(
        Map.of("perBlock", perBlock, "perOutput", perOutput, "lookUp", lookedUp), null);
  }

  private Map<Integer, ScaleTask.Result> perBlock() {
    ClusterSpec spec =
        ClusterSpec.forMeasuring("bench-scale", ShuffleMode.PLUGIN)
            .with("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
            .with("spark.shuffle.compress", "false")
            .with(options.settings("--conf"));
    Map<Integer, ScaleTask.Result> results = new LinkedHashMap<>();
    console.begin("starting an application with two executors");
    try (BlockScale scale = new BlockScale(spec, seconds)) {
      for (int count : WARM_UP_BLOCKS) {
        scale.measure(count);
      }
      console.end("up and warm");
      for (int count : blocks) {
        if (!results.isEmpty() && limit.isPast(1, 1)) {
          console.say("  the time is up before %,d blocks".formatted(count));
          break;
        }
        console.begin("reading %,d blocks".formatted(count));
        results.put(count, scale.measure(count));
        console.end("done");
      }
    }
    return results;
  }

  private static Table outputTable(Iterable<DirectoryScale.Cost> costs) {
    Table table =
        new Table("map outputs", "driver CPU each", "message", "heap, accounted", "heap, measured");
    for (DirectoryScale.Cost cost : costs) {
      table.add(
          "%,d".formatted(cost.outputs()),
          nanos(cost.cpuNanos()),
          bytes(cost.messageBytes()),
          bytes(cost.accountedBytes()),
          bytes(cost.heapBytes()));
    }
    return table;
  }

  private static Table lookUpTable(DirectorySimulation.LookedUp found) {
    Table table =
        new Table("%,d executors × %,d outputs".formatted(EXECUTORS, OUTPUTS), "time", "bytes");
    table.add(
        "driver answers all executors",
        Table.seconds(found.driverNanos() / 1e9),
        Table.bytes(found.driverBytes()));
    table.add(
        "one executor asks for all outputs and peers",
        nanos((double) found.clientNanos()),
        Table.bytes(found.clientBytes()));
    table.add("  keeps of it on its heap", "", Table.bytes(found.clientHeapBytes()));
    table.add("  finds all outputs in it, each", nanos(found.lookupNanos() / (double) OUTPUTS), "");
    return table;
  }

  private static Table blockTable(Map<Integer, ScaleTask.Result> results) {
    Table table =
        new Table(
            "blocks",
            "first read, each",
            "CPU",
            "again, each",
            "CPU",
            "heap",
            "CPU against the fewest");
    double fewest = results.values().iterator().next().again().cpuNanosPerBlock();
    results.forEach(
        (count, result) ->
            table.add(
                "%,d".formatted(count),
                nanos(result.first().nanosPerBlock()),
                nanos(result.first().cpuNanosPerBlock()),
                nanos(result.again().nanosPerBlock()),
                nanos(result.again().cpuNanosPerBlock()),
                bytes(
                    result.again().heapPerByte()
                        * result.again().bytes()
                        / result.again().blocks()),
                Table.ratio(result.again().cpuNanosPerBlock() / fewest)));
    return table;
  }

  private static String nanos(double nanos) {
    if (nanos < 10_000) {
      return String.format(Locale.ROOT, "%.0f ns", nanos);
    }
    return nanos < 10e6
        ? String.format(Locale.ROOT, "%.1f µs", nanos / 1e3)
        : String.format(Locale.ROOT, "%.1f ms", nanos / 1e6);
  }

  private static String bytes(double bytes) {
    return String.format(Locale.ROOT, "%.1f B", bytes);
  }
}
