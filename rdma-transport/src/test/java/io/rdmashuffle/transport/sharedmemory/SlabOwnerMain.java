package io.rdmashuffle.transport.sharedmemory;

import io.rdmashuffle.transport.Access;
import io.rdmashuffle.transport.PeerIdentity;
import io.rdmashuffle.transport.RegisteredSlab;
import io.rdmashuffle.transport.SlabFactories;
import io.rdmashuffle.transport.SlabFactory;
import io.rdmashuffle.transport.SlabMemory;
import java.nio.file.Path;
import java.util.HexFormat;

/**
 * A process of its own that owns slabs and says on standard output how to reach them; ends with its
 * standard input, or by force. Arguments: directory, executor id, token in hex, number of slabs,
 * bytes per slab.
 */
final class SlabOwnerMain {
  private SlabOwnerMain() {}

  public static void main(String[] arguments) throws Exception {
    PeerIdentity self =
        new PeerIdentity("app", arguments[1], HexFormat.of().parseHex(arguments[2]));
    SlabFactory slabs = SlabFactories.open(Path.of(arguments[0]), self);
    try (SharedMemoryTransport transport = SharedMemoryTransport.open(self, slabs.shareable())) {
      StringBuilder keys = new StringBuilder();
      for (int i = 0; i < Integer.parseInt(arguments[3]); i++) {
        SlabMemory slab = slabs.create(Integer.parseInt(arguments[4]));
        RegisteredSlab registered = transport.register(slab, Access.REMOTE_READ);
        fill(slab, i);
        keys.append(' ').append(registered.remoteKey());
      }
      System.out.println(HexFormat.of().formatHex(transport.localEndpoint()) + keys);
      while (System.in.read() >= 0) {
        // until the parent has had enough
      }
    }
  }

  /** Every word of a slab says where it lies, and in which slab. */
  static long wordAt(int slabNumber, int offset) {
    return ((long) slabNumber << 32) | offset;
  }

  private static void fill(SlabMemory slab, int number) {
    for (int offset = SlabMemory.HEADER_LENGTH; offset < slab.length(); offset += 8) {
      slab.buffer().putLong(offset, wordAt(number, offset));
    }
  }
}
