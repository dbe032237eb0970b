package io.rdmashuffle.bench;

import io.rdmashuffle.harness.ClusterSpec;
import io.rdmashuffle.harness.Console;
import io.rdmashuffle.harness.ExecutorProcess;
import io.rdmashuffle.harness.LocalCluster;
import io.rdmashuffle.harness.Options;
import io.rdmashuffle.harness.PluginTotals;
import io.rdmashuffle.harness.ShuffleMode;
import io.rdmashuffle.harness.Table;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.apache.spark.api.java.JavaPairRDD;

/** The same blocks of the same two executors through Spark's Netty client and through ours. */
public final class FetchBench {
  private static final List<FetchShape> SHAPES =
      List.of(
          new FetchShape("1 KiB", 1 << 10, 32, 1000),
          new FetchShape("16 KiB", 16 << 10, 16, 250),
          new FetchShape("256 KiB", 256 << 10, 16, 32),
          new FetchShape("1 MiB", 1 << 20, 16, 8),
          new FetchShape("4 MiB", 4 << 20, 8, 8));

  private final Console console;
  private final Options options;
  private final int rounds;
  private final double seconds;

  private FetchBench(Options options, Console console) {
    this.console = console;
    this.options = options;
    this.rounds = options.count("--rounds", options.has("--quick") ? 1 : 3);
    this.seconds = secondsEach(options, rounds);
  }

  /** What was asked for, or less so that all measurements fit into the time. */
  private static double secondsEach(Options options, int rounds) {
    boolean isQuick = options.has("--quick");
    double asked = options.number("--seconds", isQuick ? 1 : 3);
    double available = 60 * options.number("--minutes", isQuick ? 5 : 10);
    int measurements = SHAPES.size() * (rounds * FetchTask.RUNS_PER_ROUND + FetchTask.WARM_UPS);
    return Math.min(asked, available / measurements);
  }

  /** See {@code bin/bench --help}. */
  public static void main(String[] args) throws IOException {
    BenchMain.run(
        "fetch",
        args,
        Set.of("--rounds", "--seconds"),
        Set.of(),
        (options, console) -> new FetchBench(options, console).run());
  }

  private BenchMain.Outcome run() {
    ClusterSpec spec =
        ClusterSpec.forMeasuring("bench-fetch", ShuffleMode.PLUGIN)
            .with("spark.shuffle.compress", "false")
            .with(options.settings("--conf"));
    Map<FetchShape, FetchTask.Result> results = new LinkedHashMap<>();
    PluginTotals totals;
    console.begin("starting an application with two executors");
    try (LocalCluster cluster = LocalCluster.start(spec)) {
      console.end("up");
      for (FetchShape shape : SHAPES) {
        console.begin("blocks of " + shape.name());
        results.put(shape, measure(cluster, shape));
        console.end("done");
      }
      totals = cluster.totals(0);
    }
    console.say("");
    console.say(table(results).toString());
    console.say(
        "Copies: bytes that the plugin's transports copied per byte handed on, index blocks"
            + " included. Heap: bytes that the reader's threads allocated per byte handed on.");
    console.say("The plugin's client read " + totals.bytes() + ", fallbacks " + totals.fallbacks());
    return new BenchMain.Outcome(
        json(results, totals),
        totals.oneSidedBytes() > 0 ? null : "not a byte was read one-sided: " + totals.fallbacks());
  }

  private FetchTask.Result measure(LocalCluster cluster, FetchShape shape) {
    // Held until the blocks have been fetched: Spark drops a shuffle nobody refers to.
    JavaPairRDD<Integer, byte[]> shuffled = shape.shuffle(cluster.java());
    List<ExecutorProcess> executors = cluster.executors();
    ExecutorProcess server = executors.get(0);
    ExecutorProcess reader = executors.get(1);
    BlockSet blocks =
        FetchShape.blocksIn(server.id(), FetchShape.idOf(shuffled), shuffled.getNumPartitions());
    FetchTask task = new FetchTask(blocks, server.pid(), rounds, seconds);
    return ExecutorTasks.runOn(cluster, reader.id(), task::run);
  }

  private static Table table(Map<FetchShape, FetchTask.Result> results) {
    Table table =
        new Table(
            "blocks of",
            "client",
            "blocks/s",
            "MB/s",
            "reader CPU s/GB",
            "server CPU s/GB",
            "copies",
            "heap");
    results.forEach(
        (shape, result) -> {
          FetchSample netty = result.netty();
          FetchSample plugin = result.plugin();
          FetchSample copy = result.copy();
          table.add(row(shape.name(), "Netty", netty, "-"));
          table.add(row("", "plugin", plugin, number(plugin.copiesPerByte())));
          table.add(row("", "plain copy of 1 MiB", copy, "1"));
          table.add(
              "",
              "plugin / Netty",
              Table.ratio(result.blocksPerSecondRatio()),
              Table.ratio(plugin.megabytesPerSecond() / netty.megabytesPerSecond()),
              number(plugin.readerCpuPerGigabyte() / netty.readerCpuPerGigabyte()),
              number(result.serverCpuRatio()),
              "",
              "");
          table.add(
              "",
              "plugin / plain copy",
              "",
              Table.ratio(result.plainCopyRatio()),
              number(plugin.readerCpuPerGigabyte() / copy.readerCpuPerGigabyte()),
              "",
              "",
              "");
        });
    return table;
  }

  private static String[] row(String size, String client, FetchSample sample, String copies) {
    return new String[] {
      size,
      client,
      String.format(Locale.ROOT, "%,.0f", sample.blocksPerSecond()),
      String.format(Locale.ROOT, "%,.0f", sample.megabytesPerSecond()),
      number(sample.readerCpuPerGigabyte()),
      number(sample.serverCpuPerGigabyte()),
      copies,
      number(sample.heapPerByte())
    };
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%.3f", value);
  }

  private static Map<String, Object> json(
      Map<FetchShape, FetchTask.Result> results, PluginTotals totals) {
    List<Map<String, Object>> sizes = new ArrayList<>();
    results.forEach(
        (shape, result) -> {
          Map<String, Object> row = new LinkedHashMap<>();
          row.put("blockBytes", shape.blockBytes());
          row.put("netty", result.netty());
          row.put("plugin", result.plugin());
          row.put("plainCopy", result.copy());
          row.put("blocksPerSecondRatio", result.blocksPerSecondRatio());
          row.put("serverCpuRatio", result.serverCpuRatio());
          row.put("plainCopyRatio", result.plainCopyRatio());
          row.put("copiesPerByte", result.plugin().copiesPerByte());
          sizes.add(row);
        });
    return Map.of("fetch", sizes, "plugin", totals);
  }
}
