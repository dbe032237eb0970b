package io.rdmashuffle.conf;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ConfigKeysTest {
  /** A key's bounds: the nearest values on either side of each; null where there is none. */
  private record Bounds(ConfigKey<?> key, String below, String least, String most, String above) {}

  private static Stream<Bounds> bounds() {
    return Stream.of(
        new Bounds(ConfigKeys.MEMORY_SIZE, "-1", "0", "16t", "17592186044417"),
        new Bounds(ConfigKeys.MEMORY_SLAB_SIZE, "512k", "1m", "1g", "2g"),
        new Bounds(ConfigKeys.MEMORY_QUARANTINE, "19999us", "20ms", "1h", "3600001ms"),
        new Bounds(ConfigKeys.MEMORY_RECEIVE_SIZE, "1048575", "1m", "1t", "1099511627777"),
        new Bounds(ConfigKeys.INDEX_CACHE_SIZE, "-1", "0", "64g", "68719476737"),
        new Bounds(ConfigKeys.WRITE_BEHIND_SIZE, "-1", "0", "16t", "17592186044417"),
        new Bounds(ConfigKeys.WRITE_BEHIND_TIMEOUT, "-1", "0", "10min", "600001"),
        new Bounds(ConfigKeys.FILES_MAX_REGIONS, "-1", "0", "32768", "32769"),
        new Bounds(ConfigKeys.FILES_MAX_SIZE, "-1", "0", "16t", "17592186044417"),
        new Bounds(ConfigKeys.CONNECT_TIMEOUT, "9999us", "10ms", "10min", "600001"),
        new Bounds(ConfigKeys.READ_TIMEOUT, "9999us", "10ms", "10min", "600001"),
        new Bounds(ConfigKeys.LOCATE_TIMEOUT, "9999us", "10ms", "10min", "600001"),
        new Bounds(ConfigKeys.PUBLISH_TIMEOUT, "9999us", "10ms", "10min", "600001"),
        new Bounds(ConfigKeys.STOP_TIMEOUT, "9999us", "10ms", "10min", "600001"),
        new Bounds(ConfigKeys.MAX_BYTES_IN_FLIGHT_PER_PEER, "4095", "4k", "1t", "1099511627777"),
        new Bounds(ConfigKeys.MAX_BYTES_IN_FLIGHT, "4095", "4k", "1t", "1099511627777"),
        new Bounds(ConfigKeys.MAX_READS_IN_FLIGHT_PER_PEER, "0", "1", "65535", "65536"),
        new Bounds(ConfigKeys.READ_CHUNK_SIZE, "4095", "4k", "1g", "1073741825"),
        new Bounds(ConfigKeys.PEER_BACKOFF, "9999us", "10ms", "1h", "3600001ms"),
        new Bounds(ConfigKeys.PEER_MAX_BACKOFF, "9999us", "10ms", "1h", "3600001ms"),
        new Bounds(ConfigKeys.GID_INDEX, "-2", "-1", "255", "256"),
        new Bounds(ConfigKeys.TRAFFIC_CLASS, "-2", "-1", "255", "256"),
        new Bounds(ConfigKeys.ACK_TIMEOUT, "0", "1", "21", "22"),
        new Bounds(ConfigKeys.RETRY_COUNT, "-1", "0", "7", "8"),
        new Bounds(ConfigKeys.RNR_RETRY_COUNT, "-1", "0", "6", "7"),
        new Bounds(ConfigKeys.QUEUE_DEPTH, "15", "16", "65535", "65536"),
        new Bounds(ConfigKeys.MAX_CONNECTIONS, "0", "1", "65535", "65536"),
        new Bounds(ConfigKeys.LISTEN_BACKLOG, "0", "1", "65535", "65536"),
        new Bounds(ConfigKeys.POLLER_SPIN, "-1", "0", "1s", "1000001us"));
  }

  @ParameterizedTest
  @MethodSource("bounds")
  void boundsAreAllowedAndNothingBeyond(Bounds bounds) {
    assertDoesNotThrow(() -> bounds.key().parse(bounds.least()));
    assertDoesNotThrow(() -> bounds.key().parse(bounds.most()));
    assertThrows(IllegalArgumentException.class, () -> bounds.key().parse(bounds.below()));
    assertThrows(IllegalArgumentException.class, () -> bounds.key().parse(bounds.above()));
  }

  @Test
  void everyBoundIsTested() {
    assertEquals(
        ConfigKeys.all().filter(ConfigKey::isBounded).map(ConfigKey::name).toList(),
        bounds().map(bounds -> bounds.key().name()).toList());
  }

  @Test
  void everyDeclaredKeyIsInOneSection() throws IllegalAccessException {
    final List<String> declared = new ArrayList<>();
    for (Field field : ConfigKeys.class.getDeclaredFields()) {
      if (field.getType() == ConfigKey.class) {
        declared.add(((ConfigKey<?>) field.get(null)).name());
      }
    }
    assertEquals(
        declared.stream().sorted().toList(),
        ConfigKeys.all().map(ConfigKey::name).sorted().toList());
  }

  @Test
  void noNameIsUsedTwice() {
    final List<String> names = new ArrayList<>(ConfigKeys.RETIRED.keySet());
    ConfigKeys.all()
        .forEach(
            key -> {
              names.add(key.name());
              key.aliases().forEach(alias -> names.add(alias.name()));
            });
    assertEquals(names.size(), new HashSet<>(names).size(), names.toString());
  }

  @Test
  void everyKeySaysWhatItIs() {
    ConfigKeys.all()
        .forEach(
            key -> {
              assertTrue(key.name().startsWith(ConfigKey.PREFIX), key.name());
              assertFalse(key.defaultText().isEmpty(), key.name());
              assertFalse(key.since().isEmpty(), key.name());
              assertTrue(key.doc().endsWith("."), key.name());
              assertFalse((key.doc() + key.allowed()).contains("|"), key + " breaks its table");
            });
  }

  /** The documentation writes keys without the prefix; such a key must exist. */
  @Test
  void documentationNamesOnlyKeysThatExist() {
    final Set<String> known =
        ConfigKeys.all()
            .map(key -> key.name().substring(ConfigKey.PREFIX.length()))
            .collect(Collectors.toSet());
    final Pattern quotedKey =
        Pattern.compile("`((?:[a-z]+\\.)?[a-z]+[A-Z][A-Za-z]+|[a-z]+\\.[a-z]+)`");
    ConfigKeys.all()
        .forEach(
            key ->
                quotedKey
                    .matcher(key.doc())
                    .results()
                    .forEach(
                        match ->
                            assertTrue(
                                known.contains(match.group(1)), key + " names " + match.group(1))));
  }

  /** SparkRDMA 1.0 to 3.1 read these, in RdmaShuffleConf.scala. */
  @Test
  void everyKeyOfSparkRdmaIsKnown() {
    final Set<String> known = new HashSet<>(ConfigKeys.RETIRED.keySet());
    ConfigKeys.all()
        .forEach(
            key -> {
              known.add(key.name());
              key.aliases().forEach(alias -> known.add(alias.name()));
            });
    final String sparkRdmaKeys =
        """
        recvQueueDepth sendQueueDepth recvWrSize swFlowControl maxBufferAllocationSize device.num
        useOdp cpuList shuffleWriteBlockSize shuffleReadBlockSize maxBytesInFlight
        preAllocateBuffers collectShuffleReaderStats partitionLocationFetchTimeout
        fetchTimeBucketSizeInMs fetchTimeNumBuckets collectOdpStats driverPort executorPort
        rdmaCmEventTimeout teardownListenTimeout resolvePathTimeout maxConnectionAttempts
        maxAggBlock maxAggPrealloc shuffleWriterMethod shuffleWriteChunkSize
        shuffleWriteFlushSize shuffleWriteMaxInMemoryStoragePerExecutor
        """;
    Pattern.compile("\\s+")
        .splitAsStream(sparkRdmaKeys)
        .forEach(name -> assertTrue(known.contains(ConfigKey.PREFIX + name), name));
  }
}
