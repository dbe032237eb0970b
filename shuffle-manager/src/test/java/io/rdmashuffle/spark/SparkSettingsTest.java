package io.rdmashuffle.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Settings of Spark's that the plugin changes or refuses. */
class SparkSettingsTest {
  private final SparkConf conf =
      new SparkConf(false)
          .set("spark.master", "spark://host:7077")
          .set("spark.executor.extraClassPath", "/opt/rdma-shuffle.jar");

  private final LogCapture log = new LogCapture(SparkSettings.class);

  @AfterEach
  void stopListening() {
    log.close();
  }

  @Test
  void pushBasedShuffleIsSwitchedOffWithOneWarning() {
    conf.set("spark.shuffle.push.enabled", "true");
    SparkSettings.prepare(conf, true);
    assertEquals("false", conf.get("spark.shuffle.push.enabled"));
    assertEquals(
        List.of(
            "WARN spark.shuffle.push.enabled=true is set to false: map outputs are pulled, not"
                + " pushed"),
        log.lines());
    SparkSettings.prepare(conf, true);
    assertEquals(1, log.lines().size(), "it is warned of once");
  }

  @Test
  void executorsRepeatNoWarningOfTheDriver() {
    conf.set("spark.shuffle.push.enabled", "true");
    conf.set("spark.shuffle.readHostLocalDisk", "true");
    SparkSettings.prepare(conf, false);
    assertEquals("false", conf.get("spark.shuffle.push.enabled"));
    assertEquals("false", conf.get("spark.shuffle.readHostLocalDisk"));
    assertEquals(List.of(), log.lines());
  }

  @Test
  void memoryThatSparkTakesOutsideTheHeapIsNotThereForMapOutputs() {
    conf.set("spark.master", "local-cluster[2,1,1024]")
        .set("spark.shuffle.rdma.memory.size", "64m")
        .set("spark.memory.offHeap.size", "1024t");
    SparkSettings.prepare(conf, true);
    conf.set("spark.memory.offHeap.enabled", "true");
    String message =
        assertThrows(IllegalArgumentException.class, () -> SparkSettings.prepare(conf, true))
            .getMessage();
    assertTrue(message.contains("off-heap memory"), message);
  }

  @Test
  void readsOfTheFilesOfOtherExecutorsAreSwitchedOff() {
    SparkSettings.prepare(conf, true);
    assertEquals("false", conf.get("spark.shuffle.readHostLocalDisk"));
    assertEquals(List.of(), log.lines(), "nobody asked for them");
  }

  @Test
  void anotherPlaceForMapOutputsIsRefused() {
    conf.set("spark.shuffle.sort.io.plugin.class", "org.example.Elsewhere");
    IllegalArgumentException refusal =
        assertThrows(IllegalArgumentException.class, () -> SparkSettings.prepare(conf, true));
    assertTrue(refusal.getMessage().contains("org.example.Elsewhere"), refusal.getMessage());
  }

  @Test
  void inLocalModeNothingIsTouched() {
    conf.set("spark.master", "local[4]").set("spark.shuffle.push.enabled", "true");
    SparkSettings.prepare(conf, true);
    assertEquals("true", conf.get("spark.shuffle.push.enabled"));
    assertFalse(conf.contains("spark.shuffle.readHostLocalDisk"));
  }

  @Test
  void plainBytesAreKeptOffTheWireByAnyKindOfNetworkEncryption() {
    assertFalse(SparkSettings.wouldPutPlainBytesOnTheWire(conf));
    for (String key :
        List.of(
            "spark.network.crypto.enabled",
            "spark.authenticate.enableSaslEncryption",
            "spark.ssl.rpc.enabled")) {
      SparkConf encrypted = conf.clone().set(key, "true");
      assertTrue(SparkSettings.wouldPutPlainBytesOnTheWire(encrypted), key);
      encrypted.set("spark.io.encryption.enabled", "true");
      assertFalse(SparkSettings.wouldPutPlainBytesOnTheWire(encrypted), key);
    }
  }
}
