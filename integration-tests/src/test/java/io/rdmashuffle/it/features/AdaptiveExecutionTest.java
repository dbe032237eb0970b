package io.rdmashuffle.it.features;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.harness.LocalCluster;
import io.rdmashuffle.harness.PluginTotals;
import io.rdmashuffle.it.Feature;
import io.rdmashuffle.it.PluginApp;
import io.rdmashuffle.it.features.AdaptiveQuery.Outcome;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Adaptive execution reads shuffles in other ways than one partition a task. Spark's sort shuffle
 * shows which blocks each way fetches; the plugin must fetch as many, and get the same rows.
 */
@Tag("slow")
class AdaptiveExecutionTest {
  private static final Map<String, String> PLAIN = Map.of();
  private static final Map<String, String> OLD_PROTOCOL =
      Map.of("spark.shuffle.useOldFetchProtocol", "true");
  private static final Map<String, String> ENCRYPTED =
      Map.of("spark.io.encryption.enabled", "true");

  @Test
  @Feature({
    "Adaptive execution: coalesced partitions",
    "Adaptive execution: skewed partitions are split",
    "Adaptive execution: local shuffle reader",
    "Adaptive execution: adjacent partitions are fetched in a batch"
  })
  void readsTheBlocksThatTheSortShuffleReads() {
    assertSame(PLAIN);
  }

  @Test
  @Feature("Adaptive execution: old fetch protocol")
  void readsTheBlocksThatTheSortShuffleReadsWithTheOldProtocol() {
    assertSame(OLD_PROTOCOL);
  }

  @Test
  @Feature("Adaptive execution: no batches of encrypted partitions")
  void readsTheBlocksThatTheSortShuffleReadsWhenTheyAreEncrypted() {
    assertSame(ENCRYPTED);
  }

  @Test
  void batchesSaveBlocksOnlyWhereSparkAllowsThem() {
    long batched = Reference.inLocalMode(PLAIN, AdaptiveExecutionTest::coalescedBlocks);
    long single = Reference.inLocalMode(OLD_PROTOCOL, AdaptiveExecutionTest::coalescedBlocks);
    assertTrue(batched < single, batched + " blocks in batches, " + single + " without");
  }

  private static long coalescedBlocks(LocalCluster cluster) {
    return AdaptiveQuery.COALESCED.run(cluster).blocks();
  }

  private static void assertSame(Map<String, String> settings) {
    Map<String, Outcome> expected =
        Reference.inLocalMode(settings, AdaptiveExecutionTest::outcomes);
    try (LocalCluster cluster = PluginApp.start("adaptive", settings)) {
      Map<String, Outcome> found = outcomes(cluster);
      for (AdaptiveQuery query : AdaptiveQuery.ALL) {
        Outcome outcome = found.get(query.name());
        assertTrue(
            outcome.plan().lines().anyMatch(line -> line.matches(query.planPattern())),
            () -> query + " is not what this plan does: " + outcome.plan());
        assertEquals(expected.get(query.name()).rows(), outcome.rows(), query.name());
        assertEquals(expected.get(query.name()).blocks(), outcome.blocks(), query.name());
      }
      PluginTotals totals = cluster.totals();
      assertEquals(cluster.metrics().remoteBytes(), totals.oneSidedBytes(), totals::toString);
    }
  }

  private static Map<String, Outcome> outcomes(LocalCluster cluster) {
    return new HashMap<>(
        AdaptiveQuery.ALL.stream()
            .collect(Collectors.toMap(AdaptiveQuery::name, query -> query.run(cluster))));
  }
}
