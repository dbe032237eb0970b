package io.rdmashuffle.chaos;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * All that is decided about a round, and decided by its seed alone: what runs, with which settings,
 * and what is done to it. What a machine cannot do, such as faults of a link it does not have, is
 * left out when the round runs, and changes nothing else.
 *
 * @param onMachine injections that need no RDMA device
 * @param onLink injections that need one
 */
public record ChaosPlan(
    long seed,
    int executors,
    ChaosJob job,
    Map<String, String> settings,
    FaultRates rates,
    List<Injection> onMachine,
    List<Injection> onLink) {
  private static final List<InjectionKind> MACHINE_KINDS =
      List.of(
          InjectionKind.KILL,
          InjectionKind.FREEZE,
          InjectionKind.FILL_MEMORY,
          InjectionKind.FILL_DISK,
          InjectionKind.LOWER_MEMLOCK,
          InjectionKind.LOWER_FILE_SIZE);
  private static final List<InjectionKind> LINK_KINDS =
      List.of(InjectionKind.LINK_DOWN, InjectionKind.LINK_LOSS, InjectionKind.LINK_DELAY);
  private static final int MAX_INJECTIONS = 4;
  private static final int WINDOW_MS = 4_000;
  private static final int SHORTEST_MS = 300;
  private static final int LONGEST_MS = 2_500;

  /** Copies the collections. */
  public ChaosPlan {
    settings = Map.copyOf(settings);
    onMachine = List.copyOf(onMachine);
    onLink = List.copyOf(onLink);
  }

  /** The plan of a seed; the same for ever. */
  public static ChaosPlan of(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    int executors = 2 + random.split().nextInt(2);
    ChaosJob job = job(random.split());
    FaultRates rates = rates(random.split());
    Map<String, String> settings = settings(random.split(), rates);
    List<Injection> onMachine = injections(random.split(), MACHINE_KINDS);
    List<Injection> onLink = injections(random.split(), LINK_KINDS);
    return new ChaosPlan(seed, executors, job, settings, rates, onMachine, onLink);
  }

  private static ChaosJob job(SplittableRandom random) {
    ChaosJob.Operation[] operations = ChaosJob.Operation.values();
    return new ChaosJob(
        operations[random.nextInt(operations.length)],
        random.nextInt(1_000_000),
        4 + random.nextInt(9),
        4 + random.nextInt(13),
        500 + random.nextInt(2_500),
        5 + random.nextInt(20));
  }

  private static FaultRates rates(SplittableRandom random) {
    return new FaultRates(
        sometimes(random, 0.5, 0.02),
        sometimes(random, 0.25, 0.01),
        sometimes(random, 0.5, 0.4),
        sometimes(random, 0.4, 0.3),
        sometimes(random, 0.4, 0.4));
  }

  private static double sometimes(SplittableRandom random, double share, double max) {
    boolean isOn = random.nextDouble() < share;
    double rate = random.nextDouble() * max;
    return isOn ? rate : 0;
  }

  private static Map<String, String> settings(SplittableRandom random, FaultRates rates) {
    Map<String, String> settings = new TreeMap<>();
    settings.put("spark.shuffle.rdma.memory.size", one(random, "8m", "16m", "32m"));
    settings.put("spark.shuffle.rdma.memory.slabSize", one(random, "1m", "4m"));
    settings.put("spark.shuffle.rdma.memory.receiveSize", one(random, "4m", "16m", "64m"));
    String readTimeout = one(random, "300ms", "1s", "2s");
    settings.put("spark.shuffle.rdma.read.timeout", readTimeout);
    settings.put("spark.shuffle.rdma.memory.quarantine", readTimeout.equals("2s") ? "4s" : "2s");
    settings.put("spark.shuffle.rdma.connect.timeout", one(random, "300ms", "1s", "2s"));
    settings.put("spark.shuffle.rdma.locate.timeout", one(random, "500ms", "1s", "3s"));
    settings.put("spark.shuffle.rdma.publish.timeout", one(random, "500ms", "1s", "3s"));
    settings.put("spark.shuffle.rdma.peer.backoff", one(random, "50ms", "500ms"));
    settings.put("spark.shuffle.rdma.peer.maxBackoff", "1s");
    settings.put("spark.io.compression.codec", one(random, "lz4", "zstd", "snappy"));
    settings.put("spark.shuffle.compress", one(random, "true", "true", "false"));
    settings.put(
        "spark.serializer",
        "org.apache.spark.serializer." + one(random, "JavaSerializer", "KryoSerializer"));
    // Damaged bytes are only found where somebody looks.
    settings.put("spark.shuffle.rdma.verifyChecksums", Boolean.toString(rates.corrupt() > 0));
    return settings;
  }

  private static String one(SplittableRandom random, String... values) {
    return values[random.nextInt(values.length)];
  }

  private static List<Injection> injections(SplittableRandom random, List<InjectionKind> kinds) {
    List<Injection> injections = new ArrayList<>();
    int count = 1 + random.nextInt(MAX_INJECTIONS);
    for (int i = 0; i < count; i++) {
      injections.add(
          new Injection(
              kinds.get(random.nextInt(kinds.size())),
              random.nextInt(WINDOW_MS),
              random.nextInt(16),
              SHORTEST_MS + random.nextInt(LONGEST_MS - SHORTEST_MS)));
    }
    injections.sort(Comparator.comparingLong(Injection::afterMs));
    return injections;
  }
}
