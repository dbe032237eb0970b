package io.rdmashuffle.transport.verbs;

import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.RdmaCmId;
import java.io.IOException;

/** Creates the queue pair of an id; the seam at which tests make creation fail. */
interface QueuePairFactory {
  /**
   * Creates it, to be destroyed with the id.
   *
   * @param sendDepth work requests the send queue must hold
   */
  IbvQP create(RdmaCmId id, int sendDepth) throws IOException;
}
