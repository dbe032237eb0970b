package io.rdmashuffle.spark.read;

import io.rdmashuffle.spark.directory.OutputRecord;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A file in which the owner tells the readers what it published last in each of a number of slots,
 * and which nobody waits for: one that was stopped reads of outputs that are long gone.
 */
final class TortureBoard {
  static final int SLOTS = 16;

  private static final int SLOT_LENGTH = 64;
  private static final VarHandle LONGS =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final ByteBuffer memory;

  /** Opens the board in that file, which is made if need be. */
  TortureBoard(Path file) throws IOException {
    try (FileChannel channel =
        FileChannel.open(
            file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      memory =
          channel
              .map(FileChannel.MapMode.READ_WRITE, 0, SLOTS * SLOT_LENGTH)
              .order(ByteOrder.LITTLE_ENDIAN);
    }
  }

  /** Called by the owner. */
  void write(int slot, OutputRecord output) {
    int at = slot * SLOT_LENGTH;
    long version = (long) LONGS.getVolatile(memory, at);
    LONGS.setVolatile(memory, at, version + 1); // odd: being written
    memory.putLong(at + 8, output.mapTaskId());
    memory.putLong(at + 16, output.offset());
    memory.putLong(at + 24, output.generation());
    memory.putInt(at + 32, output.slabId());
    memory.putInt(at + 36, output.indexLength());
    LONGS.setVolatile(memory, at, version + 2);
  }

  /** What the slot held when it was looked at; null when it is empty or just being written. */
  OutputRecord read(int slot) {
    int at = slot * SLOT_LENGTH;
    long version = (long) LONGS.getVolatile(memory, at);
    if (version == 0 || version % 2 != 0) {
      return null;
    }
    long mapTaskId = memory.getLong(at + 8);
    long offset = memory.getLong(at + 16);
    long generation = memory.getLong(at + 24);
    int slabId = memory.getInt(at + 32);
    int indexLength = memory.getInt(at + 36);
    VarHandle.fullFence();
    return version == (long) LONGS.getVolatile(memory, at)
        ? new OutputRecord(
            TortureBlocks.SHUFFLE_ID, mapTaskId, slabId, offset, indexLength, generation)
        : null;
  }
}
