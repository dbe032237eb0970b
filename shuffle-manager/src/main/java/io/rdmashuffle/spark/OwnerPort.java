package io.rdmashuffle.spark;

import io.rdmashuffle.spark.directory.DirectoryClient;
import io.rdmashuffle.spark.directory.DirectoryException;
import io.rdmashuffle.spark.directory.PeerRecord;
import io.rdmashuffle.transport.Deadline;
import java.nio.ByteBuffer;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The port of an executor's own TCP service, which executors list in the directory beside their
 * endpoints: with an external shuffle service, map statuses name the port of that one.
 */
final class OwnerPort {
  private static final Logger LOG = LoggerFactory.getLogger(OwnerPort.class);

  /** Under which the port stands among the endpoints. */
  static final String NAME = "tcp";

  private final DirectoryClient directory;
  private final Duration timeout;

  OwnerPort(DirectoryClient directory, Duration timeout) {
    this.directory = directory;
    this.timeout = timeout;
  }

  static byte[] encode(int port) {
    return ByteBuffer.allocate(Integer.BYTES).putInt(port).array();
  }

  /** Asks the driver unless the executor is known; 0 when it is gone or the driver is silent. */
  int of(String executorId) {
    try {
      PeerRecord peer = directory.peer(executorId, Deadline.after(timeout));
      byte[] port = peer == null ? null : peer.executor().endpoint(NAME);
      return port == null || port.length != Integer.BYTES ? 0 : ByteBuffer.wrap(port).getInt();
    } catch (DirectoryException e) {
      LOG.warn("executor {} is not asked for blocks: {}", executorId, e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return 0;
  }
}
