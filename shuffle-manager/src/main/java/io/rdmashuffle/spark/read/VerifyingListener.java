package io.rdmashuffle.spark.read;

import io.rdmashuffle.store.IndexBlock;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.buffer.NettyManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;

/**
 * Compares a block that came over TCP with the checksums in its index block, since it was wrong
 * when it was read one-sided: what is wrong at its origin is not handed on but reported, so that
 * Spark computes the map output again.
 */
final class VerifyingListener implements BlockFetchingListener {
  private static final int CHUNK_BYTES = 64 << 10;

  private final BlockFetchingListener listener;
  private final IndexBlock index;
  private final int startPartition;
  private final int endPartition;

  VerifyingListener(
      BlockFetchingListener listener, IndexBlock index, int startPartition, int endPartition) {
    this.listener = listener;
    this.index = index;
    this.startPartition = startPartition;
    this.endPartition = endPartition;
  }

  @Override
  public void onBlockFetchSuccess(String blockId, ManagedBuffer data) {
    try {
      check(blockId, data);
    } catch (IOException e) {
      listener.onBlockFetchFailure(blockId, e);
      return;
    }
    listener.onBlockFetchSuccess(blockId, data);
  }

  private void check(String blockId, ManagedBuffer data) throws IOException {
    BlockChecksums checksums = new BlockChecksums(index, startPartition, endPartition);
    boolean isWhole = data.size() == index.length(startPartition, endPartition);
    if (isWhole && data instanceof NettyManagedBuffer) {
      // A stream of it would use it up: whoever came next would find nothing.
      checksums.accept(data.nioByteBuffer());
    } else if (isWhole) {
      acceptAll(data, checksums);
    }
    if (!isWhole || !checksums.isIntact()) {
      throw new IOException(
          blockId
              + " is corrupt where it lies: read twice, over two transports, its bytes differ"
              + " from the checksum they were written with");
    }
  }

  private static void acceptAll(ManagedBuffer data, BlockChecksums checksums) throws IOException {
    byte[] chunk = new byte[CHUNK_BYTES];
    try (InputStream in = data.createInputStream()) {
      for (int count = in.read(chunk); count > 0; count = in.read(chunk)) {
        checksums.accept(ByteBuffer.wrap(chunk, 0, count));
      }
    }
  }

  @Override
  public void onBlockFetchFailure(String blockId, Throwable failure) {
    listener.onBlockFetchFailure(blockId, failure);
  }
}
