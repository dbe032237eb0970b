package io.rdmashuffle.transport;

import java.nio.ByteBuffer;
import java.security.MessageDigest;

/**
 * The first bytes of a slab: the proof that it belongs to the executor that the driver named.
 * Layout, little-endian: magic (8), slab id (4), zero (4), slab length (8), proof (32). A process
 * that reuses the pid or the descriptor of a dead executor cannot have it.
 */
public final class SlabHeader {
  /** "RDMASLB1" read as a little-endian number. */
  private static final long MAGIC = 0x31424c53414d4452L;

  private static final String PURPOSE = "slab";
  private static final int LENGTH_OFFSET = 16;
  private static final int PROOF_OFFSET = 24;

  private SlabHeader() {}

  /** Writes the header of a slab that belongs to {@code owner}. */
  public static void write(SlabMemory slab, PeerIdentity owner) {
    ByteBuffer buffer = slab.buffer();
    buffer.putInt(8, slab.id());
    buffer.putInt(12, 0);
    buffer.putLong(LENGTH_OFFSET, slab.length());
    buffer.put(PROOF_OFFSET, owner.proof(PURPOSE));
    buffer.putLong(0, MAGIC);
  }

  /**
   * Marks a slab as gone, for peers that still have its file mapped. The owner calls it before the
   * memory is given back.
   */
  static void clear(SlabMemory slab) {
    if (slab.length() >= SlabMemory.HEADER_LENGTH) {
      slab.buffer().putLong(0, 0);
    }
  }

  /**
   * Whether the owner of a mapped slab still has it. Cheap enough to be asked before every read; a
   * killed owner's slab counts as living, its memory stays as it was.
   */
  public static boolean isLiving(ByteBuffer mapped) {
    return mapped.getLong(0) == MAGIC;
  }

  /**
   * Whether a mapped slab has the length and the owner it should have.
   *
   * @param mapped the whole slab as mapped from its file, little-endian
   */
  public static boolean isOwnedBy(ByteBuffer mapped, PeerIdentity owner) {
    return isOwnedBy(mapped, mapped.capacity(), owner);
  }

  /**
   * Whether the file behind a descriptor is a slab of {@code owner}; asked before it is mapped, for
   * a file of someone else may shrink under a mapping.
   *
   * @param header the first {@link SlabMemory#HEADER_LENGTH} bytes of the file, little-endian
   * @param length bytes of the file
   */
  static boolean isOwnedBy(ByteBuffer header, long length, PeerIdentity owner) {
    if (header.capacity() < SlabMemory.HEADER_LENGTH
        || header.getLong(0) != MAGIC
        || header.getLong(LENGTH_OFFSET) != length) {
      return false;
    }
    byte[] found = new byte[PeerIdentity.PROOF_LENGTH];
    header.get(PROOF_OFFSET, found);
    return MessageDigest.isEqual(found, owner.proof(PURPOSE));
  }
}
