package io.rdmashuffle.store;

import java.lang.reflect.Field;
import java.nio.ByteBuffer;

/** Spoils map outputs in slabs, as a broken memory module would. For tests. */
public final class Tampering {
  private Tampering() {}

  /** Flips a bit in the middle of every partition that holds anything. */
  public static void flipBits(MapOutput output) {
    ExtentChain chain = extents(output);
    long start = 0;
    for (int partition = 0; partition < output.numPartitions(); partition++) {
      long length = output.partitionLength(partition);
      if (length > 0) {
        flipBit(chain, start + length / 2);
      }
      start += length;
    }
  }

  private static void flipBit(ExtentChain chain, long position) {
    long left = position;
    int extent = 0;
    while (left >= chain.usedLength(extent)) {
      left -= chain.usedLength(extent);
      extent++;
    }
    ByteBuffer slab = chain.slab(extent).buffer();
    int at = (int) (chain.offset(extent) + left);
    slab.put(at, (byte) (slab.get(at) ^ 1));
  }

  private static ExtentChain extents(MapOutput output) {
    try {
      Field field = MapOutput.class.getDeclaredField("extents");
      field.setAccessible(true);
      return (ExtentChain) field.get(output);
    } catch (ReflectiveOperationException e) {
      throw new LinkageError("MapOutput has changed", e);
    }
  }
}
