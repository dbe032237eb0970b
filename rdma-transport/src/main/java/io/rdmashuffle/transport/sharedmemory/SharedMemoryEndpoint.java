package io.rdmashuffle.transport.sharedmemory;

import io.rdmashuffle.transport.PeerIdentity;
import io.rdmashuffle.transport.ProcessIdentity;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.util.UUID;

/**
 * What a peer must know to find our slabs: which process we are, with proof that our executor says
 * so. Layout, little-endian: magic and version (4), boot id (16), pid namespace (8), pid (8), start
 * time (8), proof (32). Immutable.
 */
final class SharedMemoryEndpoint {
  /** "SHM" and version 1, read as a little-endian number. */
  private static final int MAGIC = 0x014d4853;

  private static final int LENGTH = 44 + PeerIdentity.PROOF_LENGTH;

  private final ProcessIdentity process;
  private final byte[] proof;

  /**
   * @param process that holds the slabs
   * @param proof made with the executor's token over all of {@code process}
   */
  private SharedMemoryEndpoint(ProcessIdentity process, byte[] proof) {
    this.process = process;
    this.proof = proof;
  }

  static SharedMemoryEndpoint of(ProcessIdentity process, PeerIdentity self) {
    return new SharedMemoryEndpoint(process, self.proof(purpose(process)));
  }

  ProcessIdentity process() {
    return process;
  }

  /** Whether the executor itself named this process. */
  boolean isSignedBy(PeerIdentity peer) {
    return MessageDigest.isEqual(proof, peer.proof(purpose(process)));
  }

  byte[] encode() {
    return ByteBuffer.allocate(LENGTH)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(MAGIC)
        .putLong(process.bootId().getMostSignificantBits())
        .putLong(process.bootId().getLeastSignificantBits())
        .putLong(process.pidNamespace())
        .putLong(process.pid())
        .putLong(process.startTime())
        .put(proof)
        .array();
  }

  /** Null when the bytes are not an endpoint of this version. */
  static SharedMemoryEndpoint decode(byte[] bytes) {
    if (bytes.length != LENGTH) {
      return null;
    }
    ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    if (buffer.getInt() != MAGIC) {
      return null;
    }
    UUID bootId = new UUID(buffer.getLong(), buffer.getLong());
    ProcessIdentity process =
        new ProcessIdentity(bootId, buffer.getLong(), buffer.getLong(), buffer.getLong());
    byte[] proof = new byte[PeerIdentity.PROOF_LENGTH];
    buffer.get(proof);
    return new SharedMemoryEndpoint(process, proof);
  }

  private static String purpose(ProcessIdentity process) {
    return String.join(
        "|",
        "shm",
        process.bootId().toString(),
        Long.toString(process.pidNamespace()),
        Long.toString(process.pid()),
        Long.toString(process.startTime()));
  }
}
