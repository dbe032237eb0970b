package io.rdmashuffle.transport.sharedmemory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.transport.FailureKind;
import io.rdmashuffle.transport.PeerIdentity;
import io.rdmashuffle.transport.ProcFileSystem;
import io.rdmashuffle.transport.ProcessIdentity;
import io.rdmashuffle.transport.TransportException;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class PeerCheckTest {
  private final PeerIdentity peer = new PeerIdentity("app", "3", new byte[32]);
  private ProcessIdentity self;

  @BeforeEach
  void open() throws Exception {
    self = ProcFileSystem.SYSTEM.self();
  }

  @Test
  void acceptsALivingProcess() throws Exception {
    assertEquals(self, new PeerCheck(self, peer).processOf(endpointOf(self)));
  }

  @Test
  void refusesAnotherHost() {
    assertRefused(
        endpointOf(new ProcessIdentity(new UUID(1, 2), self.pidNamespace(), self.pid(), 1)),
        FailureKind.NO_SHARED_MEMORY,
        "another host");
  }

  @Test
  void refusesAnotherPidNamespace() {
    assertRefused(
        endpointOf(
            new ProcessIdentity(
                self.bootId(), self.pidNamespace() + 1, self.pid(), self.startTime())),
        FailureKind.NO_SHARED_MEMORY,
        "share their pid namespace");
  }

  @Test
  void refusesAReusedPid() {
    assertRefused(
        endpointOf(
            new ProcessIdentity(
                self.bootId(), self.pidNamespace(), self.pid(), self.startTime() + 1)),
        FailureKind.CONNECT_REJECTED,
        "which has ended");
  }

  @Test
  void refusesPidsThatCannotBe() {
    for (long pid : new long[] {0, -1, Long.MIN_VALUE, Long.MAX_VALUE}) {
      assertRefused(
          endpointOf(new ProcessIdentity(self.bootId(), self.pidNamespace(), pid, 1)),
          FailureKind.CONNECT_REJECTED,
          "which has ended");
    }
  }

  @Test
  void refusesAProcessThatTheExecutorDidNotName() {
    byte[] moved = endpointOf(self);
    moved[28]++; // the pid
    assertRefused(moved, FailureKind.CONNECT_REJECTED, "not signed");
  }

  @Test
  void refusesAnotherVersion() {
    byte[] next = endpointOf(self);
    next[3]++;
    assertRefused(next, FailureKind.CONNECT_REJECTED, "same version");
  }

  private byte[] endpointOf(ProcessIdentity process) {
    return SharedMemoryEndpoint.of(process, peer).encode();
  }

  private void assertRefused(byte[] endpoint, FailureKind kind, String reason) {
    TransportException failure =
        assertThrows(TransportException.class, () -> new PeerCheck(self, peer).processOf(endpoint));
    assertEquals(kind, failure.kind());
    assertTrue(failure.getMessage().contains(reason), failure.getMessage());
    assertTrue(failure.getMessage().contains("executor 3 of app"), failure.getMessage());
  }
}
