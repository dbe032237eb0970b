package io.rdmashuffle.transport.sharedmemory;

import io.rdmashuffle.transport.FaultGenerator;
import io.rdmashuffle.transport.FaultyTransport;
import io.rdmashuffle.transport.PeerIdentity;
import io.rdmashuffle.transport.SlabFactory;
import io.rdmashuffle.transport.Transport;

/** Where nothing is to go wrong, the wrapper must keep the contract too. */
class FaultyTransportContractTest extends SharedMemoryTransportContractTest {
  @Override
  protected Transport openTransport(PeerIdentity self, SlabFactory slabs) {
    return new FaultyTransport(super.openTransport(self, slabs), FaultGenerator.none());
  }

  @Override
  protected boolean allocatesNothingPerBatch() {
    return false;
  }
}
