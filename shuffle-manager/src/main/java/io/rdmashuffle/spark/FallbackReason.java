package io.rdmashuffle.spark;

import io.rdmashuffle.transport.FailureKind;

/** Why a block was not read one-sided but through Spark's own TCP service. */
public enum FallbackReason {
  /** The settings leave no one-sided transport. */
  DISABLED,
  /** No RDMA device with an active port and a usable address. */
  NO_DEVICE,
  /** The native library is missing or does not match the jar. */
  NATIVE_MISSING,
  /** RLIMIT_MEMLOCK does not admit registering slabs. */
  MEMLOCK_TOO_LOW,
  /** The peer's slabs cannot be mapped from this process. */
  NO_SHARED_MEMORY,
  /** The driver's directory does not know the peer. */
  PEER_UNKNOWN,
  /** The driver's directory does not know where the map output lies, or did not answer in time. */
  LOCATION_UNKNOWN,
  /** The peer did not complete the connect before the deadline. */
  CONNECT_TIMEOUT,
  /** The peer refused, is unreachable, or could not prove who it is. */
  CONNECT_REJECTED,
  /** Queue pair, completion queue or memory region could not be created. */
  QP_SETUP_FAILED,
  /** A read completed with an error. */
  READ_FAILED,
  /** A read did not complete before the deadline. */
  READ_TIMEOUT,
  /** The map output was freed or moved while it was read. */
  STALE,
  /** The bytes read differ from the checksum written with them. */
  CHECKSUM_MISMATCH,
  /** What was read as an index block is not one: corrupt or hostile. */
  BAD_INDEX,
  /** The map output lies in Spark's files, not in registered memory. */
  FILE_TIER,
  /** Receive buffers did not become free before the deadline. */
  NO_RECEIVE_BUFFER,
  /** Spark encrypts its network and the blocks are plain: RDMA would put them on the wire. */
  CLEARTEXT_FORBIDDEN;

  /** The reason that a failure of a transport amounts to. */
  public static FallbackReason of(FailureKind kind) {
    return switch (kind) {
      case NO_DEVICE -> NO_DEVICE;
      case NATIVE_MISSING -> NATIVE_MISSING;
      case MEMLOCK_TOO_LOW -> MEMLOCK_TOO_LOW;
      case NO_SHARED_MEMORY -> NO_SHARED_MEMORY;
      case CONNECT_TIMEOUT -> CONNECT_TIMEOUT;
      case CONNECT_REJECTED -> CONNECT_REJECTED;
      case QP_SETUP_FAILED -> QP_SETUP_FAILED;
      case READ_FAILED, CLOSED -> READ_FAILED;
      case READ_TIMEOUT -> READ_TIMEOUT;
    };
  }
}
