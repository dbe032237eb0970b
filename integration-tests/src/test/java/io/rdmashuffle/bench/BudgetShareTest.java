package io.rdmashuffle.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.conf.RdmaShuffleConf;
import io.rdmashuffle.harness.ClusterSpec;
import io.rdmashuffle.harness.ShuffleMode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BudgetShareTest {
  private static final ClusterSpec TWO_EXECUTORS =
      ClusterSpec.forMeasuring("test", ShuffleMode.PLUGIN);

  @Test
  void aShareIsGivenWithOrWithoutItsSign() {
    assertEquals(10, BudgetShare.parse("10%").percent());
    assertEquals(2.5, BudgetShare.parse("2.5").percent());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "%", "0%", "-1%", "101%", "ten", "NaN"})
  void whatIsNoShareIsRefusedWithWhatWasExpected(String text) {
    String message =
        assertThrows(IllegalArgumentException.class, () -> BudgetShare.parse(text)).getMessage();
    assertTrue(message.contains("such as 10%"), message);
  }

  @Test
  void theShareIsSplitAmongExecutorsAndThePluginAcceptsIt() {
    ClusterSpec spec = new BudgetShare(10).applyTo(TWO_EXECUTORS, 100 << 20);
    RdmaShuffleConf conf = RdmaShuffleConf.from(spec.conf());
    assertEquals(5 << 20, conf.blockStore().memorySizeBytes().getAsLong());
    assertEquals(4 << 20, conf.blockStore().slabSizeBytes());
  }

  @Test
  void theSmallestAndALargeShareAreAcceptedToo() {
    for (long written : new long[] {20L << 20, 100L << 30}) {
      RdmaShuffleConf conf =
          RdmaShuffleConf.from(new BudgetShare(10).applyTo(TWO_EXECUTORS, written).conf());
      assertEquals(written / 20, conf.blockStore().memorySizeBytes().getAsLong());
    }
  }

  @Test
  void aShareBelowOneSlabIsRefusedWithTheArithmetic() {
    String message =
        assertThrows(
                IllegalStateException.class,
                () -> new BudgetShare(10).applyTo(TWO_EXECUTORS, 10_000_000))
            .getMessage();
    assertTrue(message.contains("500,000"), message);
  }
}
