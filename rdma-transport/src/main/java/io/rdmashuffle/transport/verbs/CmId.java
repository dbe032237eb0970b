package io.rdmashuffle.transport.verbs;

import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.RdmaEventChannel;
import com.ibm.disni.verbs.impl.NatCmaIdPrivate;
import java.io.IOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An id of the connection manager and its queue pair.
 *
 * <p>Made without DiSNI's channel, whose table of ids only grows. Not thread-safe: belongs to the
 * connection manager's thread, and its queue pair to the poller once that has it.
 */
final class CmId {
  private static final Logger LOG = LoggerFactory.getLogger(CmId.class);

  private final long handle;
  private final NatCmaIdPrivate id;
  private IbvQP queuePair;

  private CmId(long handle, NatCmaIdPrivate id) {
    this.handle = handle;
    this.id = id;
  }

  static CmId create(RdmaEventChannel events, VerbsDevice device) throws IOException {
    long handle = VerbsExt.check("rdma_create_id", VerbsExt.createId(VerbsDevice.handleOf(events)));
    return adopt(handle, events, device);
  }

  /** Wraps the id that came with a connect request. */
  static CmId adopt(long handle, RdmaEventChannel events, VerbsDevice device) throws IOException {
    NatCmaIdPrivate id = new NatCmaIdPrivate(handle, events, null);
    id.setVerbs(device.context());
    return new CmId(handle, id);
  }

  long handle() {
    return handle;
  }

  void resolveRoute(int timeoutMs) throws IOException {
    id.resolveRoute(timeoutMs);
  }

  void createQueuePair(QueuePairFactory factory, int sendDepth) throws IOException {
    queuePair = factory.create(id, sendDepth);
  }

  long queuePairHandle() {
    return VerbsDevice.handleOf(queuePair);
  }

  boolean hasQueuePair() {
    return queuePair != null;
  }

  /** Tells the other side, if there is one. Does not wait. */
  void disconnect() {
    try {
      id.disconnect(); // fails where nothing is connected
    } catch (IOException e) {
      LOG.debug("disconnect", e);
    }
  }

  void destroyQueuePair() {
    if (queuePair == null) {
      return;
    }
    queuePair = null;
    try {
      id.destroyQP();
    } catch (IOException e) {
      LOG.warn("destroying a queue pair failed", e);
    }
  }

  void destroy() {
    destroyQueuePair();
    int result = VerbsExt.destroyId(handle);
    if (result < 0) {
      LOG.warn("{}", VerbsExt.describe("rdma_destroy_id", result));
    }
  }
}
