package io.rdmashuffle.transport.sharedmemory;

import io.rdmashuffle.transport.AbstractTransportContractTest;
import io.rdmashuffle.transport.PeerIdentity;
import io.rdmashuffle.transport.ProcFileSystem;
import io.rdmashuffle.transport.ProcessIdentity;
import io.rdmashuffle.transport.SlabFactory;
import io.rdmashuffle.transport.Transport;

class SharedMemoryTransportContractTest extends AbstractTransportContractTest {
  @Override
  protected Transport openTransport(PeerIdentity self, SlabFactory slabs) {
    return SharedMemoryTransport.open(self, slabs.shareable());
  }

  /** The process is the peer, so an earlier run of the same pid has to play the dead one. */
  @Override
  protected byte[] endpointOfDeadPeer(PeerIdentity peer) throws Exception {
    ProcessIdentity self = ProcFileSystem.SYSTEM.self();
    ProcessIdentity earlier =
        new ProcessIdentity(self.bootId(), self.pidNamespace(), self.pid(), self.startTime() - 1);
    return SharedMemoryEndpoint.of(earlier, peer).encode();
  }
}
