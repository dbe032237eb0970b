package io.rdmashuffle.it;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.rdmashuffle.harness.ExecutorProcess;
import io.rdmashuffle.harness.LocalCluster;
import io.rdmashuffle.harness.ProcessCounts;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** An executor that dies, or no longer answers, while others read from it. */
@Tag("slow")
class LostExecutorTest {
  private static final int TASKS = 24;
  private static final int ROWS = 4_000;

  @Test
  @Feature("Recovery: an executor is killed while others read from it")
  @ExpectedWarnings(ExpectedWarnings.LOST_EXECUTOR)
  void aKilledExecutorCostsNothingButTime() throws Exception {
    try (LocalCluster cluster = PluginApp.start("lost-killed", Map.of())) {
      RunningJob.startAndAwaitReads(cluster, TASKS, ROWS).killAnExecutorAndAssertRight();
    }
    assertEquals(List.of(), ProcessCounts.slabFilesIn(Path.of("/dev/shm")));
  }

  @Test
  @Feature("Recovery: an executor does not answer for a while")
  void aFrozenExecutorIsReadAllTheSame() throws Exception {
    try (LocalCluster cluster = PluginApp.start("lost-frozen", Map.of())) {
      RunningJob job = RunningJob.startAndAwaitReads(cluster, TASKS, ROWS);
      ExecutorProcess frozen = cluster.executors().get(0);
      frozen.signal("STOP");
      try {
        TimeUnit.SECONDS.sleep(5);
      } finally {
        frozen.signal("CONT");
      }
      job.assertRight();
    }
  }
}
