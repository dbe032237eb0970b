package io.rdmashuffle.spark.read;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class RequestedBlocksTest {
  @Test
  void readsSingleAndBatchNames() {
    String largest = "shuffle_2147483647_9223372036854775799_2147483646";
    RequestedBlocks one = RequestedBlocks.parse(new String[] {largest});
    assertEquals(Integer.MAX_VALUE, one.shuffleId());
    assertEquals(9223372036854775799L, one.mapTaskId(0));
    assertEquals(Integer.MAX_VALUE - 1, one.startPartition(0));
    assertEquals(Integer.MAX_VALUE, one.endPartition(0));

    RequestedBlocks two =
        RequestedBlocks.parse(new String[] {"shuffle_0_0_0", "shuffle_0_12_3_700"});
    assertEquals(2, two.size());
    assertEquals(0, two.startPartition(0));
    assertEquals(1, two.endPartition(0));
    assertEquals(12, two.mapTaskId(1));
    assertEquals(3, two.startPartition(1));
    assertEquals(700, two.endPartition(1));
    assertEquals("shuffle_0_12_3_700", two.name(1));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "shuffle_",
        "shuffle_1",
        "shuffle_1_2",
        "shuffle_1_2_",
        "shuffle_1_2_3_",
        "shuffle_1__3",
        "shuffle__1_2_3",
        "shuffle_1_2_3_4_5",
        "shuffle_1_2_3_3",
        "shuffle_1_2_3_2",
        "shuffle_-1_2_3",
        "shuffle_1_2_-3",
        "shuffle_1_2_3.data",
        "shuffle_1_2_3.index",
        "shuffle_1_2_x",
        "shuffle_2147483648_2_3",
        "shuffle_1_9999999999999999999_3",
        "shuffle_1_2_2147483647",
        "shuffle_1_2_3_2147483648",
        "shuffleChunk_1_2_3_4",
        "shuffleMerged_app_1_2_3",
        "Shuffle_1_2_3",
        "rdd_1_2"
      })
  void refusesWhatIsNoBlockOfAMapOutput(String name) {
    assertNull(RequestedBlocks.parse(new String[] {name}));
    assertNull(RequestedBlocks.parse(new String[] {"shuffle_1_2_3", name}));
  }

  @Test
  void refusesNoneAndSeveralShuffles() {
    assertNull(RequestedBlocks.parse(new String[0]));
    assertNull(RequestedBlocks.parse(new String[] {"shuffle_1_2_3", "shuffle_2_2_3"}));
  }

  @Test
  void junkNeitherThrowsNorPasses() {
    long seed = Long.getLong("test.seed", System.nanoTime());
    System.out.println("junkNeitherThrowsNorPasses seed=" + seed);
    Random random = new Random(seed);
    String alphabet = "0123456789__--.x";
    for (int i = 0; i < 20_000; i++) {
      StringBuilder name = new StringBuilder("shuffle_");
      for (int n = random.nextInt(12); n >= 0; n--) {
        name.append(alphabet.charAt(random.nextInt(alphabet.length())));
      }
      RequestedBlocks blocks = RequestedBlocks.parse(new String[] {name.toString()});
      boolean isWellFormed = name.toString().matches("shuffle_\\d+_\\d+_\\d+(_\\d+)?");
      if (blocks != null) {
        assertEquals(true, isWellFormed, name.toString());
        assertEquals(true, blocks.startPartition(0) < blocks.endPartition(0), name.toString());
      }
    }
    assertNotNull(RequestedBlocks.parse(new String[] {"shuffle_1_2_3"}));
  }
}
