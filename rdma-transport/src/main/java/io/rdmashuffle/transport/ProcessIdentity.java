package io.rdmashuffle.transport;

import java.util.Objects;
import java.util.UUID;

/**
 * One run of one process, as another process on the same host recognises it: a pid alone is reused,
 * and means something else in another pid namespace, on another host, or after a reboot.
 *
 * @param bootId of the host's kernel
 * @param pidNamespace inode number of the namespace in which {@code pid} counts
 * @param pid as {@code /proc} shows it
 * @param startTime clock ticks since boot at which the process started
 */
public record ProcessIdentity(UUID bootId, long pidNamespace, long pid, long startTime) {
  public ProcessIdentity {
    Objects.requireNonNull(bootId, "bootId");
  }

  /** Whether both ran on the same host since its last boot. */
  public boolean isOnHostOf(ProcessIdentity other) {
    return bootId.equals(other.bootId);
  }

  /** Whether {@code pid} means the same to both. */
  public boolean isInNamespaceOf(ProcessIdentity other) {
    return isOnHostOf(other) && pidNamespace == other.pidNamespace;
  }
}
