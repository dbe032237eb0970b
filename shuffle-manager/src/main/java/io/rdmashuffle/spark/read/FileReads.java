package io.rdmashuffle.spark.read;

import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.apache.spark.network.util.TransportConf;

/**
 * Reads blocks into files, on threads that may wait for them. One per executor; safe for use by
 * several threads.
 */
public final class FileReads {
  private final Executor executor;
  private final TransportConf conf;

  /**
   * @param executor runs the reads, few at a time
   * @param conf by which Spark reads the files back
   */
  public FileReads(Executor executor, TransportConf conf) {
    this.executor = executor;
    this.conf = conf;
  }

  /**
   * Starts reading a block whose index block is known.
   *
   * @return false when the plugin was stopped
   */
  boolean start(FetchRequest request, int block) {
    try {
      executor.execute(new FileBlockRead(request, block, conf));
      return true;
    } catch (RejectedExecutionException e) {
      return false;
    }
  }
}
