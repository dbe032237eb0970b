package io.rdmashuffle.it.features;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.RdmaShuffleManager;
import io.rdmashuffle.ShuffleTotals;
import io.rdmashuffle.harness.ClusterSpec;
import io.rdmashuffle.harness.LocalCluster;
import io.rdmashuffle.harness.PluginTotals;
import io.rdmashuffle.harness.ShuffleMode;
import io.rdmashuffle.it.ExpectedWarnings;
import io.rdmashuffle.it.Feature;
import io.rdmashuffle.it.PluginApp;
import io.rdmashuffle.jobs.ResultDigest;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.Logger;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.Property;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Applications one after the other in one JVM, local ones among them. */
@Tag("slow")
@ExpectedWarnings("the sort shuffle does the work")
class LocalModeTest {
  @Test
  @Feature({"local[*]: left to the sort shuffle", "Several SparkContexts in one JVM"})
  void applicationsFollowEachOtherWhateverTheirMaster() {
    ResultDigest first = inLocalMode();
    try (LocalCluster cluster = PluginApp.start("follows-local", Map.of())) {
      assertEquals(first, PluginApp.digest(PluginApp.moved(cluster, 6, 6, 500)));
      RemoteReads.assertRight(cluster);
      PluginTotals totals = cluster.totals();
      assertTrue(totals.bytes("shm") > 0, () -> PluginApp.summary(totals));
    }
    assertEquals(first, inLocalMode());
  }

  private static ResultDigest inLocalMode() {
    Warnings warnings = new Warnings();
    ClusterSpec spec =
        ClusterSpec.forTests("local", ShuffleMode.PLUGIN)
            .sized(0, 2, 1024)
            .with("spark.master", "local[2]");
    try (warnings;
        LocalCluster local = LocalCluster.start(spec)) {
      ResultDigest result = PluginApp.digest(PluginApp.moved(local, 6, 6, 500));
      ShuffleTotals totals = ShuffleTotals.of(local.context());
      assertEquals(0, totals.bytes("shm") + totals.bytes("tcp"), totals::toString);
      assertEquals(1, warnings.messages.size(), warnings.messages::toString);
      assertTrue(warnings.messages.get(0).contains("sort shuffle"), warnings.messages::toString);
      return result;
    }
  }

  /** What the manager warns of. */
  private static final class Warnings extends AbstractAppender implements AutoCloseable {
    private final List<String> messages = new CopyOnWriteArrayList<>();
    private final Logger logger = (Logger) LogManager.getLogger(RdmaShuffleManager.class);

    Warnings() {
      super("test", null, null, false, Property.EMPTY_ARRAY);
      start();
      logger.addAppender(this);
    }

    @Override
    public void append(LogEvent event) {
      if (event.getLevel().isMoreSpecificThan(Level.WARN)) {
        messages.add(event.getMessage().getFormattedMessage());
      }
    }

    @Override
    public void close() {
      logger.removeAppender(this);
      stop();
    }
  }
}
