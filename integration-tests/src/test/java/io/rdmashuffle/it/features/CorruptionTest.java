package io.rdmashuffle.it.features;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rdmashuffle.harness.Lineage;
import io.rdmashuffle.harness.LocalCluster;
import io.rdmashuffle.harness.PluginTotals;
import io.rdmashuffle.harness.SparkLine;
import io.rdmashuffle.it.ExpectedWarnings;
import io.rdmashuffle.it.Feature;
import io.rdmashuffle.it.PluginApp;
import io.rdmashuffle.jobs.ResultDigest;
import io.rdmashuffle.store.ChecksumAlgorithm;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.FetchFailed;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Bytes that change where they lie: noticed, named as what it is, and computed again. */
@Tag("slow")
@ExpectedWarnings("go by TCP: (CHECKSUM_MISMATCH|BAD_INDEX) ")
class CorruptionTest {
  private static final int MAPS = 10;
  private static final int REDUCERS = 4;
  private static final int ROWS = 300;

  private LocalCluster cluster;
  private ResultDigest expected;
  private JavaPairRDD<Integer, byte[]> moved;
  private int shuffleId;

  @Test
  @Feature({"Checksums: ADLER32", "Corruption: in memory, diagnosed by Spark"})
  void bitsFlippedInASlabAreDiagnosedAsCorruptionAtTheSource() {
    in(
        "corrupt-memory",
        Map.of(),
        () -> {
          assertChecksums(ChecksumAlgorithm.ADLER32);
          corruptOneExecutor(id -> List.of(Corruption.inMemory(id)).iterator());
          assertNoticed("DISK_ISSUE");
        });
  }

  @Test
  @Feature({"Checksums: CRC32", "Corruption: in files, diagnosed by Spark"})
  void bitsFlippedInAFileAreDiagnosedAsCorruptionAtTheSource() {
    in(
        "corrupt-files",
        Map.of("spark.shuffle.rdma.memory.size", "0", "spark.shuffle.checksum.algorithm", "CRC32"),
        () -> {
          List<Long> mapTaskIds = List.copyOf(MapOutputs.mapTaskIds(shuffleId).values());
          corruptOneExecutor(id -> List.of(Corruption.inFiles(id, mapTaskIds)).iterator());
          assertNoticed("DISK_ISSUE");
        });
  }

  @Test
  @Feature("Checksums: CRC32C (from Spark 4.0 on)")
  void bitsFlippedInASlabAreDiagnosedByThatChecksumToo() {
    assumeTrue(SparkLine.current().isAtLeast(4, 0), "Spark before 4.0 has no CRC32C");
    in(
        "corrupt-crc32c",
        Map.of("spark.shuffle.checksum.algorithm", "CRC32C"),
        () -> {
          assertChecksums(ChecksumAlgorithm.CRC32C);
          corruptOneExecutor(id -> List.of(Corruption.inMemory(id)).iterator());
          assertNoticed("DISK_ISSUE");
        });
  }

  @Test
  @Feature("Corruption: checksums verified by the reader")
  void whatNoCodecWouldNoticeIsNoticedWithVerifyChecksums() {
    in(
        "corrupt-plain",
        Map.of(
            "spark.shuffle.rdma.verifyChecksums", "true",
            "spark.shuffle.compress", "false",
            "spark.shuffle.checksum.algorithm", "CRC32"),
        () -> {
          assertChecksums(ChecksumAlgorithm.CRC32);
          PluginTotals before = cluster.totals();
          corruptOneExecutor(id -> List.of(Corruption.inMemory(id)).iterator());
          // Its own reducers would not notice: Spark verifies nothing that it reads locally.
          assertRemoteReadersNotice();
          PluginTotals read = cluster.totals().since(before);
          assertTrue(
              read.fallbacks().containsKey("CHECKSUM_MISMATCH"), () -> PluginApp.summary(read));
        });
  }

  private void in(String name, Map<String, String> settings, Runnable test) {
    try (LocalCluster started = PluginApp.start(name, settings)) {
      cluster = started;
      expected = PluginApp.expected(cluster, MAPS, ROWS);
      Decommission.await("one executor did all the work", this::isSpread);
      test.run();
    }
  }

  /** Moves rows; whether both executors hold some of them. */
  private boolean isSpread() {
    moved = PluginApp.moved(cluster, MAPS, REDUCERS, ROWS);
    shuffleId = Lineage.shuffleOf(moved.rdd());
    assertEquals(expected, PluginApp.digest(moved));
    return Set.copyOf(MapOutputs.executors(shuffleId).values()).size() == 2;
  }

  private void assertChecksums(ChecksumAlgorithm algorithm) {
    int id = shuffleId;
    List<Boolean> right =
        cluster
            .java()
            .parallelize(List.of(1, 2), 2)
            .flatMap(
                task -> {
                  Thread.sleep(500); // the other executor gets the other task
                  return Corruption.areChecksumsRight(id, algorithm).iterator();
                })
            .collect();
    assertFalse(right.isEmpty(), "there are no checksums");
    assertFalse(right.contains(false), () -> "checksums that are right: " + right);
  }

  private void corruptOneExecutor(FlatMapFunction<Integer, Integer> corrupt) {
    int count = cluster.java().parallelize(List.of(shuffleId), 1).flatMap(corrupt).collect().get(0);
    assertTrue(count > 0, "the executor held none of the map outputs");
  }

  private void assertNoticed(String diagnosis) {
    try (TaskEvents events = TaskEvents.attach(cluster)) {
      assertEquals(expected, PluginApp.digest(moved));
      List<FetchFailed> failures = events.settle().fetchFailures();
      assertFalse(failures.isEmpty(), "nothing was noticed");
      for (FetchFailed failure : failures) {
        assertTrue(failure.message().contains("corrupted due to " + diagnosis), failure::message);
      }
    }
  }

  private void assertRemoteReadersNotice() {
    try (TaskEvents events = TaskEvents.attach(cluster)) {
      PluginApp.digest(moved);
      List<FetchFailed> failures = events.settle().fetchFailures();
      assertFalse(failures.isEmpty(), "nothing was noticed");
      for (FetchFailed failure : failures) {
        assertTrue(failure.message().contains("is corrupt where it lies"), failure::message);
      }
    }
  }
}
