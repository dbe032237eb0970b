package io.rdmashuffle.bench;

import io.rdmashuffle.conf.RdmaShuffleConf;
import io.rdmashuffle.harness.Console;
import io.rdmashuffle.harness.Options;
import io.rdmashuffle.harness.Table;
import io.rdmashuffle.transport.Access;
import io.rdmashuffle.transport.Connection;
import io.rdmashuffle.transport.Deadline;
import io.rdmashuffle.transport.PeerIdentity;
import io.rdmashuffle.transport.RegisteredSlab;
import io.rdmashuffle.transport.SlabFactories;
import io.rdmashuffle.transport.SlabMemory;
import io.rdmashuffle.transport.Transport;
import io.rdmashuffle.transport.verbs.VerbsTransports;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** Our verbs transport beside perftest on the same device, interleaved in one run. */
public final class TransportBench {
  private static final int DEPTH = 64;
  private static final int READS_PER_BATCH = 16;
  private static final int LATENCY_BYTES = 8;
  private static final int[] BANDWIDTH_BYTES = {4 << 10, 64 << 10, 1 << 20};
  private static final int SLAB_LENGTH = 4 << 20;

  private final Console console;
  private final Options options;
  private final int rounds;
  private final long bytesPerRun;
  private final int latencyReads;
  private final Perftest perftest;
  private final TimeLimit limit;

  private TransportBench(Options options, Console console) {
    this.console = console;
    this.options = options;
    boolean isQuick = options.has("--quick");
    rounds = options.count("--rounds", isQuick ? 1 : 3);
    bytesPerRun = (long) options.count("--megabytes", isQuick ? 4 : 16) << 20;
    latencyReads = options.count("--reads", isQuick ? 100 : 500);
    limit = TimeLimit.from(options, isQuick ? 5 : 10);
    perftest =
        new Perftest(
            options.last("--device").orElse("rxe0"),
            options.count("--gid", 1),
            options.last("--address").orElse("10.77.0.1"));
  }

  /** See {@code bin/bench --help}. */
  public static void main(String[] args) throws IOException {
    BenchMain.run(
        "transport",
        args,
        Set.of("--rounds", "--megabytes", "--reads", "--device", "--gid", "--address"),
        Set.of(),
        (options, console) -> new TransportBench(options, console).run());
  }

  private BenchMain.Outcome run() {
    try {
      return measure();
    } catch (IllegalStateException e) {
      throw e;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    } catch (Exception e) {
      throw new IllegalStateException(e.getMessage(), e);
    }
  }

  private BenchMain.Outcome measure() throws Exception {
    PeerIdentity owner = identity("owner");
    PeerIdentity reader = identity("reader");
    RdmaShuffleConf conf = RdmaShuffleConf.from(options.settings("--conf"));
    try (Transport serving = VerbsTransports.open(owner, conf.transport());
        Transport reading = VerbsTransports.open(reader, conf.transport())) {
      if (!reading.availability().isAvailable()) {
        throw new IllegalStateException(reading.availability().cause());
      }
      console.say(reading.availability().cause());
      try (SlabMemory remoteMemory = slab(owner);
          SlabMemory localMemory = slab(reader);
          RegisteredSlab remote = serving.register(remoteMemory, Access.REMOTE_READ);
          RegisteredSlab local = reading.register(localMemory, Access.LOCAL_WRITE);
          Connection connection =
              reading
                  .connect(serving.localEndpoint(), owner, Deadline.after(Duration.ofSeconds(30)))
                  .get(60, TimeUnit.SECONDS)) {
        return report(measure(connection, remote, local));
      }
    }
  }

  private static PeerIdentity identity(String executor) {
    byte[] token = new byte[PeerIdentity.TOKEN_LENGTH];
    new SecureRandom().nextBytes(token);
    return new PeerIdentity("bench", executor, token);
  }

  private static SlabMemory slab(PeerIdentity owner) throws IOException {
    return SlabFactories.open(Path.of("/dev/shm"), owner).create(SLAB_LENGTH);
  }

  /** What was measured of one size: pairs of figures, the same round beside each other. */
  private record Line(String what, String unit, List<Double> perftest, List<Double> ours) {
    double ratio() {
      List<Double> ratios = new ArrayList<>();
      for (int i = 0; i < ours.size(); i++) {
        ratios.add(ours.get(i) / perftest.get(i));
      }
      return median(ratios);
    }
  }

  private List<Line> measure(Connection connection, RegisteredSlab remote, RegisteredSlab local)
      throws Exception {
    List<Line> lines = new ArrayList<>();
    lines.add(new Line("8 B latency", "us", new ArrayList<>(), new ArrayList<>()));
    for (int bytes : BANDWIDTH_BYTES) {
      String what = (bytes >> 10) + " KiB bandwidth";
      lines.add(new Line(what, "MB/s", new ArrayList<>(), new ArrayList<>()));
    }
    // The first round warms both sides up and does not count.
    for (int round = 0; round <= rounds && !(round > 1 && limit.isPast(1, 1)); round++) {
      console.begin("round " + round + " of " + rounds);
      for (int i = 0; i < lines.size(); i++) {
        double theirs;
        double ours;
        if (i == 0) {
          theirs = perftest.latency(LATENCY_BYTES, latencyReads);
          ours = latency(connection, remote, local);
        } else {
          int bytes = BANDWIDTH_BYTES[i - 1];
          theirs = perftest.bandwidth(bytes, DEPTH, reads(bytes));
          ours = bandwidth(connection, remote, local, bytes);
        }
        if (round > 0) {
          lines.get(i).perftest().add(theirs);
          lines.get(i).ours().add(ours);
        }
      }
      console.end("done");
    }
    return lines;
  }

  private int reads(int bytes) {
    return (int) Math.max(4 * DEPTH, bytesPerRun / bytes);
  }

  private double latency(Connection connection, RegisteredSlab remote, RegisteredSlab local)
      throws Exception {
    ReadLoop loop =
        new ReadLoop(
            connection, remote, local, SlabMemory.HEADER_LENGTH, LATENCY_BYTES, 1, latencyReads);
    return loop.run(1) * 1e6 / latencyReads;
  }

  private double bandwidth(
      Connection connection, RegisteredSlab remote, RegisteredSlab local, int bytes)
      throws Exception {
    int batches = reads(bytes) / READS_PER_BATCH;
    ReadLoop loop =
        new ReadLoop(
            connection, remote, local, SlabMemory.HEADER_LENGTH, bytes, READS_PER_BATCH, batches);
    double seconds = loop.run(DEPTH / READS_PER_BATCH);
    return (double) batches * READS_PER_BATCH * bytes / (1 << 20) / seconds;
  }

  private BenchMain.Outcome report(List<Line> lines) {
    Table table = new Table("RDMA READ", "perftest", "ours", "ours / perftest");
    Map<String, Object> json = new LinkedHashMap<>();
    for (Line line : lines) {
      table.add(
          line.what(),
          figure(median(line.perftest()), line.unit()),
          figure(median(line.ours()), line.unit()),
          Table.ratio(line.ratio()));
      json.put(line.what(), line);
    }
    console.say("");
    console.say(table.toString());
    int measured = lines.get(0).ours().size();
    console.say(
        "Medians of " + measured + " rounds, the ratio that of each round's pair; depth " + DEPTH);
    return new BenchMain.Outcome(json, null);
  }

  private static String figure(double value, String unit) {
    return String.format(Locale.ROOT, "%,.1f %s", value, unit);
  }

  private static double median(List<Double> values) {
    return Statistics.median(values, Double::doubleValue);
  }
}
