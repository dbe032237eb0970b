package io.rdmashuffle.transport;

import java.io.IOException;

/**
 * Creates slabs. Memory is fully backed when a slab is returned: a full file system or a limit
 * shows as an exception here, never as a fault on first touch.
 */
public interface SlabFactory {
  /**
   * Creates a slab with its {@linkplain SlabHeader header} written.
   *
   * @param length bytes, header included; a multiple of 4096
   * @throws IOException when the memory cannot be had; says what was asked, what there is, and
   *     which setting to change
   */
  SlabMemory create(int length) throws IOException;

  /** Whether slabs can be mapped by peers; if not, {@link Availability#cause()} says why. */
  Availability shareable();
}
