package io.rdmashuffle.conf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class RdmaShuffleConfTest {
  private static final long MIB = 1 << 20;
  private static final long GIB = 1 << 30;

  @Test
  void defaultsAreAsDocumented() {
    final Map<String, Object> expected = new TreeMap<>();
    expected.put("transport.transports", Set.of(TransportKind.values()));
    expected.put("transport.rdmaEnabled", true);
    expected.put("transport.shmEnabled", true);
    expected.put("transport.device", "auto");
    expected.put("transport.port", PortRange.ANY);
    expected.put("transport.gidIndex", -1);
    expected.put("transport.trafficClass", -1);
    expected.put("transport.ackTimeoutExponent", 16);
    expected.put("transport.retryCount", 7);
    expected.put("transport.rnrRetryCount", 6);
    expected.put("transport.queueDepth", 256);
    expected.put("transport.maxConnections", 1024);
    expected.put("transport.listenBacklog", 1024);
    expected.put("transport.pollerSpinNs", 50_000L);
    expected.put("transport.connectTimeoutNs", seconds(3));
    expected.put("transport.readTimeoutNs", seconds(10));
    expected.put("transport.stopTimeoutNs", seconds(10));
    expected.put("blockStore.memorySizeBytes", OptionalLong.empty());
    expected.put("blockStore.slabSizeBytes", 64 * MIB);
    expected.put("blockStore.memoryDir", Path.of("/dev/shm"));
    expected.put("blockStore.receiveSizeBytes", 256 * MIB);
    expected.put("blockStore.quarantineNs", seconds(15));
    expected.put("blockStore.durability", Optional.empty());
    expected.put("blockStore.writeBehindSizeBytes", 256 * MIB);
    expected.put("blockStore.writeBehindTimeoutNs", seconds(1));
    expected.put("blockStore.filesMaxRegions", 512);
    expected.put("blockStore.filesMaxSizeBytes", 8192 * MIB);
    expected.put("shuffle.allowCleartext", false);
    expected.put("shuffle.verifyChecksums", false);
    expected.put("shuffle.indexCacheSizeBytes", 64 * MIB);
    expected.put("shuffle.maxBytesInFlightPerPeer", 32 * MIB);
    expected.put("shuffle.maxBytesInFlight", 128 * MIB);
    expected.put("shuffle.maxReadsInFlightPerPeer", 256);
    expected.put("shuffle.readChunkSizeBytes", MIB);
    expected.put("shuffle.peerBackoffNs", seconds(1));
    expected.put("shuffle.peerMaxBackoffNs", seconds(60));
    expected.put("shuffle.readTimeoutNs", seconds(10));
    expected.put("shuffle.locateTimeoutNs", seconds(10));
    expected.put("shuffle.publishTimeoutNs", seconds(10));
    expected.put("shuffle.stopTimeoutNs", seconds(10));

    assertEquals(expected, accessors(RdmaShuffleConf.from(Map.of())));
  }

  private static Map<String, String> allKeysAtOtherValues() {
    final Map<String, String> settings = new TreeMap<>();
    settings.put("transports", " TCP ");
    settings.put("allowCleartext", "true");
    settings.put("verifyChecksums", "TRUE");
    settings.put("memory.size", "96g");
    settings.put("memory.slabSize", "128m");
    settings.put("memory.dir", "/dev/hugepages");
    settings.put("memory.quarantine", "1min");
    settings.put("memory.receiveSize", "512m");
    settings.put("index.cacheSize", "0");
    settings.put("durability", "Memory-and-disk");
    settings.put("writeBehind.size", "1g");
    settings.put("writeBehind.timeout", "2s");
    settings.put("files.maxRegions", "64");
    settings.put("files.maxSize", "3g");
    settings.put("connect.timeout", "4s");
    settings.put("read.timeout", "20s");
    settings.put("locate.timeout", "5s");
    settings.put("publish.timeout", "6s");
    settings.put("stop.timeout", "7s");
    settings.put("maxBytesInFlightPerPeer", "48m");
    settings.put("maxBytesInFlight", "192m");
    settings.put("maxReadsInFlightPerPeer", "300");
    settings.put("readChunkSize", "2m");
    settings.put("peer.backoff", "1500");
    settings.put("peer.maxBackoff", "2min");
    settings.put("device", "mlx5_0");
    settings.put("port", "47000-47100");
    settings.put("gidIndex", "3");
    settings.put("trafficClass", "104");
    settings.put("ackTimeout", "14");
    settings.put("retryCount", "5");
    settings.put("rnrRetryCount", "2");
    settings.put("queueDepth", "512");
    settings.put("maxConnections", "128");
    settings.put("listen.backlog", "64");
    settings.put("poller.spin", "10us");
    return settings;
  }

  @Test
  void everyKeyReachesItsAccessor() {
    final Map<String, Object> expected = new TreeMap<>();
    expected.put("transport.transports", Set.of(TransportKind.TCP));
    expected.put("transport.rdmaEnabled", false);
    expected.put("transport.shmEnabled", false);
    expected.put("transport.device", "mlx5_0");
    expected.put("transport.port", new PortRange(47000, 47100));
    expected.put("transport.gidIndex", 3);
    expected.put("transport.trafficClass", 104);
    expected.put("transport.ackTimeoutExponent", 14);
    expected.put("transport.retryCount", 5);
    expected.put("transport.rnrRetryCount", 2);
    expected.put("transport.queueDepth", 512);
    expected.put("transport.maxConnections", 128);
    expected.put("transport.listenBacklog", 64);
    expected.put("transport.pollerSpinNs", 10_000L);
    expected.put("transport.connectTimeoutNs", seconds(4));
    expected.put("transport.readTimeoutNs", seconds(20));
    expected.put("transport.stopTimeoutNs", seconds(7));
    expected.put("blockStore.memorySizeBytes", OptionalLong.of(96 * GIB));
    expected.put("blockStore.slabSizeBytes", 128 * MIB);
    expected.put("blockStore.memoryDir", Path.of("/dev/hugepages"));
    expected.put("blockStore.receiveSizeBytes", 512 * MIB);
    expected.put("blockStore.quarantineNs", seconds(60));
    expected.put("blockStore.durability", Optional.of(Durability.MEMORY_AND_DISK));
    expected.put("blockStore.writeBehindSizeBytes", GIB);
    expected.put("blockStore.writeBehindTimeoutNs", seconds(2));
    expected.put("blockStore.filesMaxRegions", 64);
    expected.put("blockStore.filesMaxSizeBytes", 3072 * MIB);
    expected.put("shuffle.allowCleartext", true);
    expected.put("shuffle.verifyChecksums", true);
    expected.put("shuffle.indexCacheSizeBytes", 0L);
    expected.put("shuffle.maxBytesInFlightPerPeer", 48 * MIB);
    expected.put("shuffle.maxBytesInFlight", 192 * MIB);
    expected.put("shuffle.maxReadsInFlightPerPeer", 300);
    expected.put("shuffle.readChunkSizeBytes", 2 * MIB);
    expected.put("shuffle.peerBackoffNs", TimeUnit.MILLISECONDS.toNanos(1500));
    expected.put("shuffle.peerMaxBackoffNs", seconds(120));
    expected.put("shuffle.readTimeoutNs", seconds(20));
    expected.put("shuffle.locateTimeoutNs", seconds(5));
    expected.put("shuffle.publishTimeoutNs", seconds(6));
    expected.put("shuffle.stopTimeoutNs", seconds(7));

    final Map<String, Object> actual = accessors(conf(allKeysAtOtherValues()));
    assertEquals(expected, actual);
    accessors(RdmaShuffleConf.from(Map.of()))
        .forEach((name, value) -> assertNotEquals(value, actual.get(name), name));
  }

  @Test
  void noKeyIsForgottenAbove() {
    final Set<String> names = new TreeSet<>();
    ConfigKeys.all().forEach(key -> names.add(key.name().substring(ConfigKey.PREFIX.length())));
    assertEquals(names, new TreeSet<>(allKeysAtOtherValues().keySet()));
  }

  @Test
  void otherPropertiesAreIgnored() {
    final Map<String, String> properties = new HashMap<>();
    properties.put("spark.shuffle.manager", "io.rdmashuffle.RdmaShuffleManager");
    properties.put("spark.shuffle.rdmaX", "junk");
    properties.put("spark.shuffle.rdma", "junk");
    properties.put("memory.size", "junk");
    properties.put("spark.null", null);
    assertEquals(
        accessors(RdmaShuffleConf.from(Map.of())), accessors(RdmaShuffleConf.from(properties)));
  }

  @ParameterizedTest
  @ValueSource(strings = {"shm,rdma", " rdma , shm ", "RDMA,Shm,TCP", "tcp,shm,rdma"})
  void transportsMayBeInAnyOrderAndTcpIsAlwaysThere(String text) {
    assertEquals(
        Set.of(TransportKind.values()), conf(Map.of("transports", text)).transport().transports());
  }

  @Test
  void rdmaAloneFallsBackToTcp() {
    assertEquals(
        Set.of(TransportKind.RDMA, TransportKind.TCP),
        conf(Map.of("transports", "rdma")).transport().transports());
  }

  @ParameterizedTest
  @CsvSource({
    "memory.size, 0",
    "memory.size, AUTO",
    "memory.size, 64m",
    "memory.dir, /mnt/with space",
    "device, eth1",
    "device, 10.1.0.0/16",
    "device, fe80::1%eth1",
    "device, rxe_eth0",
    "port, 1024",
  })
  void acceptsUnusualValues(String name, String value) {
    assertEquals(List.of(), conf(Map.of(name, value)).warnings());
  }

  @ParameterizedTest
  @CsvSource({
    "transports, ''",
    "transports, 'rdma,'",
    "transports, 'rdma,ib'",
    "transports, 'rdma,rdma'",
    "allowCleartext, yes",
    "allowCleartext, 1",
    "verifyChecksums, ''",
    "memory.size, automatic",
    "memory.size, 1.5g",
    "memory.slabSize, 3m",
    "memory.slabSize, 65m",
    "durability, ''",
    "durability, ram",
    "durability, 'memory,disk'",
    "memory.dir, shm",
    "memory.dir, ''",
    "read.timeout, 10 s",
    "read.timeout, ''",
    "retryCount, 7.0",
    "retryCount, 99999999999",
    "device, ''",
    "device, 'mlx5_0, mlx5_1'",
    "port, 80",
    "port, 47100-47000",
    "port, any",
  })
  void badValuesAreRefusedWithKeyValueAndWhatIsAllowed(String name, String value) {
    final List<String> problems = problems(Map.of(name, value));
    assertEquals(1, problems.size(), problems.toString());
    final String problem = problems.get(0);
    assertTrue(problem.startsWith(ConfigKey.PREFIX + name + "=" + value + ": "), problem);
    assertTrue(problem.contains("; allowed: "), problem);
  }

  @Test
  void aBadValueIsExplainedInFull() {
    assertEquals(
        List.of(
            "spark.shuffle.rdma.memory.slabSize=3m: is not a power of two; allowed: a size from 1m"
                + " to 1g, a power of two"),
        problems(Map.of("memory.slabSize", "3m")));
    assertEquals(
        List.of(
            "spark.shuffle.rdma.rnrRetryCount=7: is out of bounds; allowed: a whole number from 0"
                + " to 6"),
        problems(Map.of("rnrRetryCount", "7")));
  }

  @Test
  void aMissingValueIsAProblemAndNoCrash() {
    final Map<String, String> properties = new HashMap<>();
    properties.put(ConfigKey.PREFIX + "memory.slabSize", null);
    final ConfigurationException e =
        assertThrows(ConfigurationException.class, () -> RdmaShuffleConf.from(properties));
    assertEquals(1, e.problems().size(), e.getMessage());
  }

  @ParameterizedTest
  @CsvSource({
    "memory.slabsize, memory.slabSize",
    "memory.slab.size, memory.slabSize",
    "slabSize, memory.slabSize",
    "memory.sise, memory.size",
    "read.timeuot, read.timeout",
    "readTimeout, read.timeout",
    "connectTimeout, connect.timeout",
    "transport, transports",
    "maxBytesInFlightPerpeer, maxBytesInFlightPerPeer",
    "gid.index, gidIndex",
    "ports, port",
    "backlog, listen.backlog",
  })
  void anUnknownKeyNamesTheNearest(String unknown, String nearest) {
    assertEquals(
        List.of(
            "%s%s=1: no such key; the nearest is %s%s"
                .formatted(ConfigKey.PREFIX, unknown, ConfigKey.PREFIX, nearest)),
        problems(Map.of(unknown, "1")));
  }

  @Test
  void thePrefixAloneIsAnUnknownKey() {
    assertEquals(1, problems(Map.of("", "1")).size());
  }

  @Test
  void editDistanceCountsSingleChanges() {
    assertEquals(0, ConfigReader.editDistance("port", "port"));
    assertEquals(4, ConfigReader.editDistance("", "port"));
    assertEquals(4, ConfigReader.editDistance("port", ""));
    assertEquals(1, ConfigReader.editDistance("ports", "port"));
    assertEquals(3, ConfigReader.editDistance("kitten", "sitting"));
  }

  @Test
  void oldKeysOfTheSameMeaningWorkWithAWarning() {
    final RdmaShuffleConf conf =
        conf(
            Map.of(
                "sendQueueDepth", "4096",
                "partitionLocationFetchTimeout", "120000",
                "rdmaCmEventTimeout", "20000",
                "shuffleWriteMaxInMemoryStoragePerExecutor", "25g",
                "executorPort", "47000"));
    assertEquals(4096, conf.transport().queueDepth());
    assertEquals(seconds(120), conf.shuffle().locateTimeoutNs());
    assertEquals(seconds(20), conf.transport().connectTimeoutNs());
    assertEquals(OptionalLong.of(25 * GIB), conf.blockStore().memorySizeBytes());
    assertEquals(new PortRange(47000, 47016), conf.transport().port());
    assertEquals(5, conf.warnings().size(), conf.warnings().toString());
    assertTrue(
        conf.warnings()
            .contains(
                "spark.shuffle.rdma.executorPort=47000: SparkRDMA's key still works, but use"
                    + " spark.shuffle.rdma.port=47000-47016"),
        conf.warnings().toString());
  }

  @Test
  void anOldPortOfAnyOrAtTheTopStaysWithinThePorts() {
    assertEquals(PortRange.ANY, conf(Map.of("executorPort", "0")).transport().port());
    assertEquals(
        new PortRange(65530, 65535), conf(Map.of("executorPort", "65530")).transport().port());
  }

  @Test
  void aBadValueOfAnOldKeyNamesTheOldKey() {
    assertEquals(
        List.of(
            "spark.shuffle.rdma.executorPort=80: is outside the ports 1024 to 65535; allowed: `0`,"
                + " a port or a range of ports from 1024 to 65535"),
        problems(Map.of("executorPort", "80")));
    assertEquals(
        List.of(
            "spark.shuffle.rdma.rdmaCmEventTimeout=-1: is not a duration such as 10s (units us, ms,"
                + " s, min, h, d); allowed: a duration from 10ms to 10min"),
        problems(Map.of("rdmaCmEventTimeout", "-1")));
  }

  @Test
  void anOldKeyAndItsSuccessorContradictEvenWhenEqual() {
    assertEquals(
        List.of(
            "spark.shuffle.rdma.queueDepth=512 and spark.shuffle.rdma.sendQueueDepth=512: both set"
                + " the same thing; keep spark.shuffle.rdma.queueDepth alone"),
        problems(Map.of("queueDepth", "512", "sendQueueDepth", "512")));
  }

  @Test
  void aKeyThatIsGoneSaysWhatReplacedIt() {
    assertEquals(
        List.of(
            "spark.shuffle.rdma.preAllocateBuffers=4k:1000: SparkRDMA's key is gone; replaced by"
                + " spark.shuffle.rdma.memory.receiveSize"),
        problems(Map.of("preAllocateBuffers", "4k:1000")));
  }

  @ParameterizedTest
  @MethodSource("retiredNames")
  void everyKeyThatIsGoneIsRefused(String name) {
    final ConfigurationException e =
        assertThrows(
            ConfigurationException.class, () -> RdmaShuffleConf.from(Map.of(name, "whatever")));
    assertTrue(e.getMessage().contains("SparkRDMA's key is gone"), e.getMessage());
  }

  private static Set<String> retiredNames() {
    return ConfigKeys.RETIRED.keySet();
  }

  /**
   * Each row: the key to set, a value that contradicts the other's default, one that just does not.
   */
  @ParameterizedTest
  @CsvSource({
    "memory.quarantine, 10s, 10001ms, read.timeout, <=",
    "memory.receiveSize, 63m, 64m, memory.slabSize, <",
    "memory.size, 63m, 64m, memory.slabSize, <",
    "maxBytesInFlightPerPeer, 1048575, 1m, readChunkSize, <",
    "maxBytesInFlight, 31m, 32m, maxBytesInFlightPerPeer, <",
    "queueDepth, 255, 256, maxReadsInFlightPerPeer, <",
    "peer.maxBackoff, 999ms, 1s, peer.backoff, <",
  })
  void contradictionsAreRefused(
      String name, String bad, String good, String other, String relation) {
    final List<String> problems = problems(Map.of(name, bad));
    assertEquals(1, problems.size(), problems.toString());
    final String expected =
        ConfigKey.PREFIX + name + "=" + bad + " " + relation + " " + ConfigKey.PREFIX + other + "=";
    assertTrue(problems.get(0).startsWith(expected), problems.get(0));
    assertTrue(problems.get(0).contains(" (default): "), problems.get(0));
    assertEquals(List.of(), conf(Map.of(name, good)).warnings());
  }

  @Test
  void aReadMustFitASlab() {
    final Map<String, String> settings =
        Map.of("readChunkSize", "8m", "memory.slabSize", "4m", "memory.size", "4m");
    assertEquals(
        List.of(
            "spark.shuffle.rdma.memory.slabSize=4m < spark.shuffle.rdma.readChunkSize=8m: a read"
                + " must find room in one slab; raise the first or lower the second"),
        problems(settings));
  }

  @Test
  void aContradictionNamesTheOldKeyThatCausedIt() {
    final List<String> problems = problems(Map.of("sendQueueDepth", "128"));
    assertTrue(
        problems
            .get(0)
            .startsWith(
                "spark.shuffle.rdma.queueDepth=128 (from spark.shuffle.rdma.sendQueueDepth) <"),
        problems.toString());
  }

  @Test
  void filesOnlyNeedsNoSlab() {
    assertEquals(
        OptionalLong.of(0), conf(Map.of("memory.size", "0")).blockStore().memorySizeBytes());
  }

  @Test
  void allProblemsAreReportedTogether() {
    final ConfigurationException e =
        assertThrows(
            ConfigurationException.class,
            () ->
                conf(
                    Map.of(
                        "memory.slabSize", "3m",
                        "retryCount", "9",
                        "useOdp", "true",
                        "colour", "blue",
                        "read.timeout", "15s")));
    assertEquals(5, e.problems().size(), e.getMessage());
    assertTrue(e.getMessage().startsWith("5 problems in the RDMA shuffle's settings:\n  spark."));
    e.problems().forEach(problem -> assertTrue(e.getMessage().contains("\n  " + problem), problem));
  }

  @Test
  void aKeyWithABadValueCausesNoFurtherProblems() {
    assertEquals(1, problems(Map.of("memory.slabSize", "junk", "memory.size", "1m")).size());
    assertEquals(1, problems(Map.of("read.timeout", "junk", "memory.quarantine", "1s")).size());
  }

  @Test
  void describesWhatWasSet() {
    assertEquals(
        "RdmaShuffleConf{spark.shuffle.rdma.memory.size=1g, spark.shuffle.rdma.queueDepth=4096}",
        conf(Map.of("memory.size", " 1g ", "sendQueueDepth", "4096")).toString());
  }

  @Test
  void viewsCannotBeChanged() {
    final Set<TransportKind> transports = conf(Map.of()).transport().transports();
    assertThrows(UnsupportedOperationException.class, () -> transports.remove(TransportKind.TCP));
  }

  private static RdmaShuffleConf conf(Map<String, String> settings) {
    final Map<String, String> properties = new HashMap<>();
    settings.forEach((name, value) -> properties.put(ConfigKey.PREFIX + name, value));
    return RdmaShuffleConf.from(properties);
  }

  private static List<String> problems(Map<String, String> settings) {
    return assertThrows(ConfigurationException.class, () -> conf(settings)).problems();
  }

  private static long seconds(long seconds) {
    return TimeUnit.SECONDS.toNanos(seconds);
  }

  /** Returns what every accessor of every view says, by {@code view.accessor}. */
  private static Map<String, Object> accessors(RdmaShuffleConf conf) {
    final Map<String, Object> values = new TreeMap<>();
    values.putAll(accessors("transport", conf.transport()));
    values.putAll(accessors("blockStore", conf.blockStore()));
    values.putAll(accessors("shuffle", conf.shuffle()));
    return values;
  }

  private static Map<String, Object> accessors(String viewName, Object view) {
    final Map<String, Object> values = new TreeMap<>();
    for (Method method : view.getClass().getDeclaredMethods()) {
      if (Modifier.isPublic(method.getModifiers()) && method.getParameterCount() == 0) {
        try {
          values.put(viewName + "." + method.getName(), method.invoke(view));
        } catch (ReflectiveOperationException e) {
          throw new LinkageError(viewName, e);
        }
      }
    }
    return values;
  }
}
