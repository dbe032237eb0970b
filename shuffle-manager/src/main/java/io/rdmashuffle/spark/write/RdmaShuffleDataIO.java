package io.rdmashuffle.spark.write;

import org.apache.spark.SparkConf;
import org.apache.spark.shuffle.api.ShuffleDataIO;
import org.apache.spark.shuffle.api.ShuffleDriverComponents;
import org.apache.spark.shuffle.api.ShuffleExecutorComponents;
import org.apache.spark.shuffle.sort.io.LocalDiskShuffleDataIO;

/**
 * What Spark's writers ask for the place to put a map output. Named by {@code
 * spark.shuffle.sort.io.plugin.class}, which the shuffle manager sets.
 */
public final class RdmaShuffleDataIO implements ShuffleDataIO {
  private final SparkConf conf;

  /** Called by Spark. */
  public RdmaShuffleDataIO(SparkConf conf) {
    this.conf = conf;
  }

  @Override
  public ShuffleExecutorComponents executor() {
    return new RdmaExecutorComponents(conf);
  }

  /** The driver's part is Spark's own. */
  @Override
  public ShuffleDriverComponents driver() {
    return new LocalDiskShuffleDataIO(conf).driver();
  }
}
