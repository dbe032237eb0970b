package io.rdmashuffle.transport;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Faults of some peers, switched on and off while the test runs. */
public final class PeerFault implements FaultGenerator {
  private final Map<String, Fault> readFaults = new ConcurrentHashMap<>();
  private final Map<String, Fault> connectFaults = new ConcurrentHashMap<>();

  /** From now on every read from the executor, and every connect to it, gets the fault. */
  public PeerFault set(String executorId, Fault fault) {
    return setReads(executorId, fault).setConnects(executorId, fault);
  }

  public PeerFault setReads(String executorId, Fault fault) {
    readFaults.put(executorId, fault);
    return this;
  }

  public PeerFault setConnects(String executorId, Fault fault) {
    connectFaults.put(executorId, fault);
    return this;
  }

  /** The executor works again. */
  public PeerFault heal(String executorId) {
    readFaults.remove(executorId);
    connectFaults.remove(executorId);
    return this;
  }

  @Override
  public Fault onRead(PeerIdentity peer, long remoteAddress, int length) {
    return readFaults.getOrDefault(peer.executorId(), Fault.NONE);
  }

  @Override
  public Fault onConnect(PeerIdentity peer) {
    return connectFaults.getOrDefault(peer.executorId(), Fault.NONE);
  }

  @Override
  public String toString() {
    return "faults of peers, reads=" + readFaults + " connects=" + connectFaults;
  }
}
