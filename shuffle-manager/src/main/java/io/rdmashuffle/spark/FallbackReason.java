package io.rdmashuffle.spark;

import io.rdmashuffle.transport.FailureKind;

/** Why a block was not read one-sided but through Spark's own TCP service. */
public enum FallbackReason {
  /** The settings leave no one-sided transport. */
  DISABLED("nothing to do unless one-sided reads were wanted"),
  /** No RDMA device with an active port and a usable address. */
  NO_DEVICE("the first lines of its log say of each RDMA device why it was passed over"),
  /** The native library is missing or does not match the jar. */
  NATIVE_MISSING("the first lines of its log say what to install"),
  /** RLIMIT_MEMLOCK does not admit registering slabs. */
  MEMLOCK_TOO_LOW("raise ulimit -l for executors"),
  /** The peer's slabs cannot be mapped from this process. */
  NO_SHARED_MEMORY(
      "executors of one host need one user, one pid namespace and a tmpfs in spark.shuffle.rdma.memory.dir"),
  /** The driver's directory does not know the peer. */
  PEER_UNKNOWN("look for the reason in the log of that executor, which may be gone"),
  /** The driver's directory does not know where the map output lies, or did not answer in time. */
  LOCATION_UNKNOWN(
      "look in that executor's log for outputs that were not published, and for pauses of the driver"),
  /** The task was killed, or interrupted itself, while it waited for the driver's answer. */
  INTERRUPTED("nothing to do: the task was killed"),
  /** The peer did not complete the connect before the deadline. */
  CONNECT_TIMEOUT(
      "check that executor and the link to it; the connect is tried again from time to time"),
  /** The peer refused, is unreachable, or could not prove who it is. */
  CONNECT_REJECTED(
      "check that executor and the link to it; the connect is tried again from time to time"),
  /** Queue pair, completion queue or memory region could not be created. */
  QP_SETUP_FAILED("check the device's limits and ulimit -l on both sides"),
  /** A read completed with an error. */
  READ_FAILED(
      "nothing to do if that executor is gone, else check the link to it; it is connected again"),
  /** A read did not complete before the deadline. */
  READ_TIMEOUT("check the link to that executor and the load on it; it is connected again"),
  /** The map output was freed or moved while it was read. */
  STALE("nothing to do: the map output was freed or moved meanwhile"),
  /** The bytes read differ from the checksum written with them. */
  CHECKSUM_MISMATCH("check the memory of both hosts; Spark fetches the block again"),
  /** What was read as an index block is not one: corrupt or hostile. */
  BAD_INDEX("check the memory of that host, and that all executors run one version of the jar"),
  /** The map output lies in one of Spark's files that is not registered. */
  FILE_TIER(
      "raise spark.shuffle.rdma.files.maxRegions and files.maxSize, or memory.size to keep outputs in memory"),
  /** Receive buffers did not become free before the deadline. */
  NO_RECEIVE_BUFFER(
      "raise spark.shuffle.rdma.memory.receiveSize, or make room in spark.shuffle.rdma.memory.dir"),
  /** Spark encrypts its network and the blocks are plain: RDMA would put them on the wire. */
  CLEARTEXT_FORBIDDEN("set spark.io.encryption.enabled=true");

  private final String remedy;

  FallbackReason(String remedy) {
    this.remedy = remedy;
  }

  /** What an operator can do about it, for the end of a line in the log. */
  public String remedy() {
    return remedy;
  }

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
