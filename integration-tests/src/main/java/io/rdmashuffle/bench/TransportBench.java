package io.rdmashuffle.bench;

import io.rdmashuffle.conf.RdmaShuffleConf;
import io.rdmashuffle.harness.Console;
import io.rdmashuffle.harness.JsonFile;
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

  private final Console console = new Console(System.out);
  private final Options options;
  private final int rounds;
  private final long bytesPerRun;
  private final int latencyReads;
  private final Perftest perftest;

  private TransportBench(Options options) {
    this.options = options;
    rounds = (int) options.number("--rounds", 3);
    bytesPerRun = (long) options.number("--megabytes", 16) << 20;
    latencyReads = (int) options.number("--reads", 500);
    perftest =
        new Perftest(
            options.last("--device").orElse("rxe0"),
            (int) options.number("--gid", 1),
            options.last("--address").orElse("10.77.0.1"));
  }

  /** See {@code bin/bench --help}. */
  public static void main(String[] args) throws IOException {
    int status;
    try {
      Set<String> names =
          Set.of(
              "--conf",
              "--json",
              "--rounds",
              "--megabytes",
              "--reads",
              "--device",
              "--gid",
              "--address");
      status = new TransportBench(Options.parse(args, names, Set.of())).run();
    } catch (IllegalArgumentException e) {
      System.err.println("bench transport: " + e.getMessage());
      status = 2;
    } catch (Exception e) {
      System.err.println("bench transport: " + e.getMessage());
      status = 1;
    }
    System.exit(status);
  }

  private int run() throws Exception {
    PeerIdentity owner = identity("owner");
    PeerIdentity reader = identity("reader");
    RdmaShuffleConf conf = RdmaShuffleConf.from(options.settings("--conf"));
    try (Transport serving = VerbsTransports.open(owner, conf.transport());
        Transport reading = VerbsTransports.open(reader, conf.transport())) {
      if (!reading.availability().isAvailable()) {
        System.err.println("bench transport: " + reading.availability().cause());
        return 1;
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
        report(measure(connection, remote, local));
      }
    }
    return 0;
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
    for (int round = 0; round <= rounds; round++) {
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

  private void report(List<Line> lines) throws IOException {
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
    console.say(
        "Medians of " + rounds + " rounds, the ratio that of each round's pair; depth " + DEPTH);
    if (options.last("--json").isPresent()) {
      JsonFile.write(Path.of(options.last("--json").get()), json);
    }
  }

  private static String figure(double value, String unit) {
    return String.format(Locale.ROOT, "%,.1f %s", value, unit);
  }

  private static double median(List<Double> values) {
    List<Double> sorted = new ArrayList<>(values);
    sorted.sort(null);
    return sorted.get(sorted.size() / 2);
  }
}
