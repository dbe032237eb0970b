package io.rdmashuffle.transport.sharedmemory;

import io.rdmashuffle.transport.FailureKind;
import io.rdmashuffle.transport.PeerIdentity;
import io.rdmashuffle.transport.ProcFileSystem;
import io.rdmashuffle.transport.ProcessIdentity;
import io.rdmashuffle.transport.TransportException;
import java.io.IOException;

/**
 * Decides whether the process that an endpoint names is the peer's, and whether its memory can be
 * mapped from here. Says no in a sentence that an administrator can act on.
 */
final class PeerCheck {
  private final ProcessIdentity self;
  private final PeerIdentity peer;

  PeerCheck(ProcessIdentity self, PeerIdentity peer) {
    this.self = self;
    this.peer = peer;
  }

  /** The process of the peer, as this process sees it. */
  ProcessIdentity processOf(byte[] endpoint) throws TransportException {
    if (endpoint.length == 0) {
      throw notShared("has no memory that can be shared; its log says why");
    }
    SharedMemoryEndpoint decoded = SharedMemoryEndpoint.decode(endpoint);
    if (decoded == null) {
      throw rejected(
          "sent "
              + endpoint.length
              + " bytes that are no endpoint of this version; do all executors run the same"
              + " version of the plugin?");
    }
    requireSameHost(decoded.process());
    if (!decoded.isSignedBy(peer)) {
      throw rejected("sent an endpoint that is not signed with the token it gave the driver");
    }
    requireReachable(decoded.process());
    return decoded.process();
  }

  private void requireSameHost(ProcessIdentity process) throws TransportException {
    if (!process.isOnHostOf(self)) {
      throw notShared("runs on another host, or ran before this host was last booted");
    }
    if (!process.isInNamespaceOf(self)) {
      throw notShared(
          "runs in another pid namespace (another container, say); containers must share their pid"
              + " namespace for this");
    }
  }

  private void requireReachable(ProcessIdentity process) throws TransportException {
    if (!ProcFileSystem.SYSTEM.isRunning(process)) {
      throw rejected(
          "ran as process "
              + process.pid()
              + ", which has ended, or is hidden from this user because /proc is mounted with"
              + " hidepid");
    }
    try {
      // Needs the same right as to open the descriptors of the peer, of which none is known yet.
      if (ProcFileSystem.SYSTEM.pidNamespace(process.pid()) != process.pidNamespace()) {
        throw rejected("changed its pid namespace");
      }
    } catch (IOException e) {
      throw notShared(
          "runs as process "
              + process.pid()
              + ", whose open files this process may not see: it runs as a different user or is"
              + " not dumpable ("
              + e
              + "); run all executors of a host as one user");
    }
  }

  private TransportException rejected(String what) {
    return new TransportException(FailureKind.CONNECT_REJECTED, peer + " " + what);
  }

  private TransportException notShared(String what) {
    return new TransportException(FailureKind.NO_SHARED_MEMORY, peer + " " + what);
  }
}
