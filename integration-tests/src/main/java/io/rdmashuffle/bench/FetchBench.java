package io.rdmashuffle.bench;

import io.rdmashuffle.harness.ClusterSpec;
import io.rdmashuffle.harness.Console;
import io.rdmashuffle.harness.ExecutorProcess;
import io.rdmashuffle.harness.JsonFile;
import io.rdmashuffle.harness.LocalCluster;
import io.rdmashuffle.harness.Options;
import io.rdmashuffle.harness.PluginTotals;
import io.rdmashuffle.harness.ShuffleMode;
import io.rdmashuffle.harness.Table;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.apache.spark.api.java.JavaPairRDD;

/** The same blocks of the same two executors through Spark's Netty client and through ours. */
public final class FetchBench {
  private static final int ATTEMPTS = 20;
  private static final List<FetchShape> SHAPES =
      List.of(
          new FetchShape("1 KiB", 1 << 10, 32, 1000),
          new FetchShape("16 KiB", 16 << 10, 16, 250),
          new FetchShape("256 KiB", 256 << 10, 16, 32),
          new FetchShape("4 MiB", 4 << 20, 8, 8));

  private final Console console = new Console(System.out);
  private final Options options;
  private final int rounds;
  private final double seconds;

  private FetchBench(Options options) {
    this.options = options;
    this.rounds = (int) options.number("--rounds", 3);
    this.seconds = options.number("--seconds", 3);
  }

  /** See {@code bin/bench --help}. */
  public static void main(String[] args) throws IOException {
    int status;
    try {
      status =
          new FetchBench(
                  Options.parse(
                      args, Set.of("--conf", "--json", "--rounds", "--seconds"), Set.of()))
              .run();
    } catch (IllegalArgumentException e) {
      System.err.println("bench fetch: " + e.getMessage());
      status = 2;
    } catch (IllegalStateException e) {
      System.err.println("bench fetch: " + e.getMessage());
      status = 1;
    }
    System.exit(status);
  }

  private int run() throws IOException {
    ClusterSpec spec =
        ClusterSpec.forMeasuring("bench-fetch", ShuffleMode.PLUGIN)
            .with("spark.shuffle.compress", "false")
            .with(options.settings("--conf"));
    Map<FetchShape, List<FetchSample>> results = new LinkedHashMap<>();
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
    console.say("The plugin's client read " + totals.bytes() + ", fallbacks " + totals.fallbacks());
    if (options.last("--json").isPresent()) {
      JsonFile.write(Path.of(options.last("--json").get()), json(results, totals));
    }
    if (totals.oneSidedBytes() == 0) {
      System.err.println("bench fetch: not a byte was read one-sided: " + totals.fallbacks());
      return 1;
    }
    return 0;
  }

  private List<FetchSample> measure(LocalCluster cluster, FetchShape shape) {
    // Held until the blocks have been fetched: Spark drops a shuffle nobody refers to.
    JavaPairRDD<Integer, byte[]> shuffled = shape.shuffle(cluster.java());
    List<ExecutorProcess> executors = cluster.executors();
    ExecutorProcess server = executors.get(0);
    ExecutorProcess reader = executors.get(1);
    BlockSet blocks = FetchShape.blocksIn(server.id(), shuffled);
    FetchTask task = new FetchTask(blocks, reader.id(), server.pid(), rounds, seconds);
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      List<FetchSample> samples =
          cluster
              .java()
              .parallelize(List.of(0, 1), 2)
              .flatMap(i -> task.run().iterator())
              .collect();
      if (!samples.isEmpty()) {
        return samples;
      }
    }
    throw new IllegalStateException("Spark gave executor " + reader.id() + " no task");
  }

  private static Table table(Map<FetchShape, List<FetchSample>> results) {
    Table table =
        new Table("blocks of", "client", "blocks/s", "MB/s", "reader CPU s/GB", "server CPU s/GB");
    results.forEach(
        (shape, samples) -> {
          FetchSample netty = samples.get(0);
          FetchSample plugin = samples.get(1);
          table.add(row(shape.name(), "Netty", netty));
          table.add(row("", "plugin", plugin));
          table.add(
              "",
              "ratio",
              Table.ratio(plugin.blocksPerSecond() / netty.blocksPerSecond()),
              Table.ratio(plugin.megabytesPerSecond() / netty.megabytesPerSecond()),
              number(plugin.readerCpuPerGigabyte() / netty.readerCpuPerGigabyte()),
              number(plugin.serverCpuPerGigabyte() / netty.serverCpuPerGigabyte()));
        });
    results.values().stream()
        .reduce((first, last) -> last)
        .ifPresent(last -> table.add(row("1 MiB", "plain copy", last.get(2))));
    return table;
  }

  private static String[] row(String size, String client, FetchSample sample) {
    return new String[] {
      size,
      client,
      String.format(Locale.ROOT, "%,.0f", sample.blocksPerSecond()),
      String.format(Locale.ROOT, "%,.0f", sample.megabytesPerSecond()),
      number(sample.readerCpuPerGigabyte()),
      number(sample.serverCpuPerGigabyte())
    };
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%.3f", value);
  }

  private static Map<String, Object> json(
      Map<FetchShape, List<FetchSample>> results, PluginTotals totals) {
    List<Map<String, Object>> sizes = new ArrayList<>();
    results.forEach(
        (shape, samples) -> {
          Map<String, Object> row = new LinkedHashMap<>();
          row.put("blockBytes", shape.blockBytes());
          row.put("netty", samples.get(0));
          row.put("plugin", samples.get(1));
          row.put("plainCopy", samples.get(2));
          row.put(
              "blocksPerSecondRatio",
              samples.get(1).blocksPerSecond() / samples.get(0).blocksPerSecond());
          row.put(
              "serverCpuRatio",
              samples.get(1).serverCpuPerGigabyte() / samples.get(0).serverCpuPerGigabyte());
          sizes.add(row);
        });
    return Map.of("fetch", sizes, "plugin", totals);
  }
}
