package io.rdmashuffle.transport;

/**
 * Why a transport, a connection or a read could not be used: what decides the caller's next step.
 */
public enum FailureKind {
  /** No usable device, or none with an active port. */
  NO_DEVICE,
  /** The native library is not in the jar, does not load, or does not match it. */
  NATIVE_MISSING,
  /** RLIMIT_MEMLOCK does not admit registering a slab. */
  MEMLOCK_TOO_LOW,
  /** The peer's slabs cannot be mapped: other host, other pid or mount namespace, no tmpfs. */
  NO_SHARED_MEMORY,
  /** The peer did not answer before the deadline of the connect. */
  CONNECT_TIMEOUT,
  /** The peer, or our check of the peer, said no: wrong token, stale identity, unreachable. */
  CONNECT_REJECTED,
  /** Queue pair, completion queue or memory region could not be created. */
  QP_SETUP_FAILED,
  /** A read completed with an error; the connection is broken. */
  READ_FAILED,
  /** A read did not complete before its deadline; the connection is broken. */
  READ_TIMEOUT,
  /** The connection or the transport was closed by this process before the read was done. */
  CLOSED
}
