package io.rdmashuffle.it.features;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rdmashuffle.harness.Lineage;
import io.rdmashuffle.harness.LocalCluster;
import io.rdmashuffle.harness.PluginTotals;
import io.rdmashuffle.it.Feature;
import io.rdmashuffle.it.PluginApp;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.zip.CRC32C;
import org.apache.spark.HashPartitioner;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaPairRDD;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import scala.Tuple2;

/** Sizes beyond what an {@code int} counts. */
@Tag("slow")
class LargeOutputTest {
  private static final int ROW_BYTES = 1 << 20;
  private static final int ROWS = 2_100;
  private static final Path SLABS = Path.of("/dev/shm");
  private static final long NEEDED_BYTES = 8L << 30;

  @Test
  @Feature({"Sizes: a block over 2 GiB", "Sizes: a map output over 2 GiB"})
  void aBlockOfMoreThanTwoGibibytesIsReadOneSided() throws IOException {
    assumeTrue(
        Files.getFileStore(SLABS).getUsableSpace() >= NEEDED_BYTES,
        () -> SLABS + " has less than " + (NEEDED_BYTES >> 30) + " GiB to spare");
    Map<String, String> settings =
        Map.of(
            "spark.shuffle.rdma.memory.size", "3g",
            "spark.shuffle.compress", "false",
            // Attempts on the executor that holds the block give up.
            "spark.task.maxFailures", "20");
    try (LocalCluster cluster = PluginApp.start("large", settings)) {
      JavaPairRDD<Integer, byte[]> moved =
          cluster
              .java()
              .parallelize(List.of(0), 1)
              .flatMapToPair(
                  seed ->
                      IntStream.range(0, ROWS).mapToObj(i -> new Tuple2<>(0, row(i))).iterator())
              .partitionBy(new HashPartitioner(1));
      int shuffleId = Lineage.shuffleOf(moved.rdd());
      moved.mapPartitions(rows -> List.of(1).iterator()).count();
      String holder = MapOutputs.executors(shuffleId).values().iterator().next();
      long sum =
          moved
              .mapPartitions(
                  rows -> {
                    if (SparkEnv.get().executorId().equals(holder)) {
                      throw new IllegalStateException("the block is to be read from elsewhere");
                    }
                    long crcs = 0;
                    while (rows.hasNext()) {
                      crcs += crc(rows.next()._2());
                    }
                    return List.of(crcs).iterator();
                  })
              .collect()
              .get(0);
      assertEquals(IntStream.range(0, ROWS).mapToLong(i -> crc(row(i))).sum(), sum);
      PluginTotals totals = cluster.totals();
      assertTrue(totals.bytes("shm") > Integer.MAX_VALUE, () -> PluginApp.summary(totals));
    }
  }

  private static byte[] row(int seed) {
    byte[] row = new byte[ROW_BYTES];
    new SplittableRandom(seed).nextBytes(row);
    return row;
  }

  private static long crc(byte[] row) {
    CRC32C crc = new CRC32C();
    crc.update(row);
    return crc.getValue();
  }
}
