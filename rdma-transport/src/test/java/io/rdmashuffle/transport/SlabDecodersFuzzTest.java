package io.rdmashuffle.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Files that a stranger may have put where slabs are looked for. */
class SlabDecodersFuzzTest {
  private static final int LENGTH = 2 * SlabMemory.HEADER_LENGTH;
  private static final int HEADER = 56;

  private final PeerIdentity owner =
      new PeerIdentity("app", "3", new byte[PeerIdentity.TOKEN_LENGTH]);

  /** Only the header with all that is checked passes: magic, length of the file, proof. */
  @Test
  void headers() throws Exception {
    byte[] good = new byte[HEADER];
    try (SlabMemory slab = new AnonymousSlabFactory(owner, "test").create(LENGTH)) {
      slab.buffer().get(0, good);
    }
    DecoderFuzz.of("slab header", List.of(good))
        .allocating(16 << 10, 16)
        .run(
            input -> {
              byte[] page = Arrays.copyOf(input, SlabMemory.HEADER_LENGTH);
              ByteBuffer header = ByteBuffer.wrap(page).order(ByteOrder.LITTLE_ENDIAN);
              boolean isTaken = SlabHeader.isOwnedBy(header, LENGTH, owner);
              boolean isSame =
                  Arrays.equals(page, 0, 8, good, 0, 8)
                      && Arrays.equals(page, 16, HEADER, good, 16, HEADER);
              assertEquals(isSame, isTaken);
              return isTaken;
            });
  }

  @Test
  void shortFiles() {
    ByteBuffer header = ByteBuffer.allocate(SlabMemory.HEADER_LENGTH - 1);
    assertEquals(false, SlabHeader.isOwnedBy(header, header.capacity(), owner));
  }

  @Test
  void fileNames() {
    String name = SlabFileName.create(new ProcessIdentity(new UUID(1, 2), 3, 4, 5));
    DecoderFuzz.of("slab file name", List.of(name.getBytes(StandardCharsets.ISO_8859_1)))
        .allocating(16 << 10, 64)
        .run(
            input -> {
              String text = new String(input, StandardCharsets.ISO_8859_1);
              // What no directory can list.
              if (text.isEmpty() || text.indexOf('\0') >= 0 || text.indexOf('/') >= 0) {
                return false;
              }
              return SlabFileName.creatorOf(Path.of(text)).isPresent();
            });
  }
}
