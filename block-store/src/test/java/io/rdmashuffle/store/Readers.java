package io.rdmashuffle.store;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Reads map outputs as a peer would: from the memory of the slabs, by what is published. */
final class Readers {
  private Readers() {}

  static IndexBlock readIndex(SlabPool pool, MapOutput output) throws InvalidIndexException {
    IndexLocation location = output.location();
    byte[] bytes = new byte[location.length()];
    memory(pool).get(location.slabId()).get(location.offset(), bytes);
    Map<Integer, Integer> lengths = new HashMap<>();
    pool.slabTable().slabs().forEach(slab -> lengths.put(slab.slabId(), slab.length()));
    return IndexBlock.decode(
        ByteBuffer.wrap(bytes),
        0,
        location,
        output.shuffleId(),
        output.mapTaskId(),
        output.numPartitions(),
        slabId -> lengths.getOrDefault(slabId, 0));
  }

  static byte[] readPieces(SlabPool pool, IndexBlock block, int start, int end) {
    Map<Integer, ByteBuffer> memory = memory(pool);
    byte[] bytes = new byte[(int) block.length(start, end)];
    int[] at = {0};
    block.forEachPiece(
        start,
        end,
        (slabId, offset, length) -> {
          memory.get(slabId).get(offset, bytes, at[0], length);
          at[0] += length;
        });
    return bytes;
  }

  static byte[] bytesOf(List<ByteBuffer> slices) {
    byte[] bytes = new byte[slices.stream().mapToInt(ByteBuffer::remaining).sum()];
    int at = 0;
    for (ByteBuffer slice : slices) {
      int length = slice.remaining();
      slice.duplicate().get(bytes, at, length);
      at += length;
    }
    return bytes;
  }

  static byte[] concat(List<byte[]> parts) {
    byte[] all = new byte[parts.stream().mapToInt(part -> part.length).sum()];
    int at = 0;
    for (byte[] part : parts) {
      System.arraycopy(part, 0, all, at, part.length);
      at += part.length;
    }
    return Arrays.copyOf(all, at);
  }

  static Map<Integer, ByteBuffer> memory(SlabPool pool) {
    Map<Integer, ByteBuffer> memory = new HashMap<>();
    for (Slab slab : pool.slabs()) {
      memory.put(slab.id(), slab.buffer());
    }
    return memory;
  }
}
