package io.rdmashuffle.spark.write;

import io.rdmashuffle.store.BudgetSpentException;
import io.rdmashuffle.store.ChecksumAlgorithm;
import io.rdmashuffle.store.MapOutput;
import io.rdmashuffle.store.MapOutputBuilder;
import java.io.EOFException;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.StandardOpenOption;
import org.apache.spark.shuffle.api.SingleSpillShuffleMapOutputWriter;

/**
 * Turns the only spill file of a sorted map output into the output: its bytes go to the block store
 * and the file is deleted, or, when the budget is short, the file is kept as Spark would keep it.
 */
final class MemorySingleSpillWriter implements SingleSpillShuffleMapOutputWriter {
  private static final int CHUNK = 1 << 20;

  private final MemoryTier tier;
  private final SingleSpillShuffleMapOutputWriter file;
  private final int shuffleId;
  private final long mapTaskId;

  MemorySingleSpillWriter(
      MemoryTier tier, SingleSpillShuffleMapOutputWriter file, int shuffleId, long mapTaskId) {
    this.tier = tier;
    this.file = file;
    this.shuffleId = shuffleId;
    this.mapTaskId = mapTaskId;
  }

  @Override
  public void transferMapSpillFile(File spill, long[] partitionLengths, long[] checksums)
      throws IOException {
    try (MapOutputBuilder memory =
        tier.store().begin(shuffleId, mapTaskId, partitionLengths.length)) {
      load(spill, partitionLengths, memory);
      ChecksumAlgorithm algorithm =
          checksums.length == partitionLengths.length
              ? tier.checksumAlgorithm()
              : ChecksumAlgorithm.NONE;
      long[] kept = algorithm == ChecksumAlgorithm.NONE ? new long[0] : checksums;
      MapOutput output = memory.commit(kept, algorithm);
      tier.publish(output);
    } catch (BudgetSpentException e) {
      tier.onBudgetSpent();
      file.transferMapSpillFile(spill, partitionLengths, checksums);
      tier.publishInFiles(shuffleId, mapTaskId);
      return;
    }
    Files.deleteIfExists(spill.toPath());
  }

  private static void load(File spill, long[] partitionLengths, MapOutputBuilder memory)
      throws IOException {
    ByteBuffer chunk = ByteBuffer.allocate(CHUNK);
    try (FileChannel channel = FileChannel.open(spill.toPath(), StandardOpenOption.READ)) {
      for (int partition = 0; partition < partitionLengths.length; partition++) {
        long left = partitionLengths[partition];
        if (left > 0) {
          memory.startPartition(partition);
        }
        while (left > 0) {
          chunk.clear().limit((int) Math.min(left, CHUNK));
          if (channel.read(chunk) < 0) {
            throw new EOFException(
                spill + " ends " + left + " bytes before the end of partition " + partition);
          }
          chunk.flip();
          left -= chunk.remaining();
          memory.write(chunk);
        }
      }
    }
  }
}
