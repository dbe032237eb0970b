package io.rdmashuffle.spark.write;

import io.rdmashuffle.spark.tier.OutputTiers;
import io.rdmashuffle.store.BudgetSpentException;
import io.rdmashuffle.store.ChecksumAlgorithm;
import io.rdmashuffle.store.MapOutput;
import io.rdmashuffle.store.MapOutputBuilder;
import io.rdmashuffle.store.OutputLayout;
import io.rdmashuffle.transport.Deadline;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.WritableByteChannel;
import java.time.Duration;
import org.apache.spark.shuffle.api.ShuffleMapOutputWriter;
import org.apache.spark.shuffle.api.ShufflePartitionWriter;
import org.apache.spark.shuffle.api.metadata.MapOutputCommitMessage;

/**
 * One attempt of a map task, written to the block store while the memory budget lasts. When it is
 * spent, what is there moves to Spark's own files and the rest follows it; the task never notices.
 *
 * <p>The output is published to the driver, and acknowledged, before the commit returns and with it
 * the map status. Used by one task on one thread.
 */
final class TieredMapOutputWriter implements ShuffleMapOutputWriter {
  /**
   * How long one output waits, in all, for memory that is about to be free: less than it would take
   * to write the output to a disk.
   */
  private static final Duration LONGEST_WAIT = Duration.ofMillis(200);

  private final OutputTiers tiers;
  private final int shuffleId;
  private final long mapTaskId;
  private final int numPartitions;
  private final ChecksumAlgorithm checksumAlgorithm;

  /** Null when the output goes to files from the start. */
  private final MapOutputBuilder memory;

  /** Null until the budget is spent for the first time. */
  private Deadline memoryDeadline;

  /** Until the output is known to readers, or given up. */
  private boolean isInUse = true;

  // Set once the output goes to files.
  private ShuffleMapOutputWriter file;
  private OutputStream fileStream;
  private int filePartition = -1;

  /**
   * @param checksumAlgorithm of the checksums that come with the commit
   */
  TieredMapOutputWriter(
      OutputTiers tiers,
      int shuffleId,
      long mapTaskId,
      int numPartitions,
      ChecksumAlgorithm checksumAlgorithm)
      throws IOException {
    this.tiers = tiers;
    this.shuffleId = shuffleId;
    this.mapTaskId = mapTaskId;
    this.numPartitions = numPartitions;
    this.checksumAlgorithm = checksumAlgorithm;
    tiers.beginUse(shuffleId);
    boolean isBegun = false;
    try {
      if (tiers.isInMemory() && findsRoom()) {
        memory = tiers.store().begin(shuffleId, mapTaskId, numPartitions);
      } else {
        memory = null;
        file = tiers.newFileWriter(shuffleId, mapTaskId, numPartitions);
      }
      isBegun = true;
    } finally {
      if (!isBegun) {
        endUse();
      }
    }
  }

  private void endUse() {
    if (isInUse) {
      isInUse = false;
      tiers.endUse(shuffleId);
    }
  }

  private boolean findsRoom() {
    while (!tiers.mayFit(shuffleId)) {
      if (!awaitMemory()) {
        return false;
      }
    }
    return true;
  }

  @Override
  public ShufflePartitionWriter getPartitionWriter(int partition) throws IOException {
    closeFileStream();
    if (file == null) {
      memory.startPartition(partition);
    }
    // Always ours, also in files: Spark's file writer must see streams only, or channels only.
    return new PartitionWriter(partition);
  }

  @Override
  public MapOutputCommitMessage commitAllPartitions(long[] checksums) throws IOException {
    while (file == null) {
      try {
        return commitMemory(checksums);
      } catch (BudgetSpentException e) {
        onBudgetSpent();
      }
    }
    closeFileStream();
    MapOutputCommitMessage message = file.commitAllPartitions(checksums);
    ChecksumAlgorithm algorithm = algorithmOf(checksums);
    tiers.onCommittedInFiles(
        OutputLayout.ofLengths(
            shuffleId,
            mapTaskId,
            message.getPartitionLengths(),
            kept(checksums, algorithm),
            algorithm));
    endUse();
    return message;
  }

  private MapOutputCommitMessage commitMemory(long[] checksums) throws BudgetSpentException {
    ChecksumAlgorithm algorithm = algorithmOf(checksums);
    MapOutput output = memory.commit(kept(checksums, algorithm), algorithm);
    tiers.onCommitted(output);
    endUse();
    return MapOutputCommitMessage.of(memory.partitionLengths());
  }

  private ChecksumAlgorithm algorithmOf(long[] checksums) {
    return checksums.length == numPartitions && numPartitions > 0
        ? checksumAlgorithm
        : ChecksumAlgorithm.NONE;
  }

  private static long[] kept(long[] checksums, ChecksumAlgorithm algorithm) {
    return algorithm == ChecksumAlgorithm.NONE ? new long[0] : checksums;
  }

  @Override
  public void abort(Throwable error) throws IOException {
    endUse();
    if (memory != null) {
      memory.abort();
    }
    try {
      closeFileStream();
    } finally {
      if (file != null) {
        file.abort(error);
      }
    }
  }

  /** Waits for memory, or goes on in files. */
  private void onBudgetSpent() throws IOException {
    if (!awaitMemory()) {
      moveToFiles();
    }
  }

  private boolean awaitMemory() {
    if (memoryDeadline == null) {
      memoryDeadline = Deadline.after(LONGEST_WAIT);
    }
    return tiers.awaitMemory(memoryDeadline);
  }

  /** Copies what is in memory to Spark's files and frees it. */
  private void moveToFiles() throws IOException {
    file = tiers.newFileWriter(shuffleId, mapTaskId, numPartitions);
    memory.forEachWritten(this::copyToFile);
    if (memory.currentPartition() >= 0) {
      openFilePartition(memory.currentPartition());
    }
    memory.abort();
  }

  private void copyToFile(int partition, ByteBuffer bytes) throws IOException {
    openFilePartition(partition);
    WritableByteChannel channel = Channels.newChannel(fileStream);
    while (bytes.hasRemaining()) {
      channel.write(bytes);
    }
  }

  private void openFilePartition(int partition) throws IOException {
    if (partition != filePartition) {
      closeFileStream();
      fileStream = file.getPartitionWriter(partition).openStream();
      filePartition = partition;
    }
  }

  private void closeFileStream() throws IOException {
    if (fileStream != null) {
      fileStream.close();
      fileStream = null;
    }
  }

  /** Writes one partition, wherever the output is at the moment. */
  private final class PartitionWriter extends OutputStream implements ShufflePartitionWriter {
    private final int partition;
    private long bytesWritten;
    private boolean isClosed;

    PartitionWriter(int partition) {
      this.partition = partition;
    }

    @Override
    public OutputStream openStream() {
      return this;
    }

    @Override
    public long getNumBytesWritten() {
      return bytesWritten;
    }

    @Override
    public void write(int value) throws IOException {
      requireOpen();
      while (file == null) {
        try {
          memory.writeByte(value);
          bytesWritten++;
          return;
        } catch (BudgetSpentException e) {
          onBudgetSpent();
        }
      }
      fileStream().write(value);
      bytesWritten++;
    }

    @Override
    public void write(byte[] bytes, int offset, int count) throws IOException {
      requireOpen();
      while (file == null) {
        try {
          memory.write(bytes, offset, count);
          bytesWritten += count;
          return;
        } catch (BudgetSpentException e) {
          onBudgetSpent();
        }
      }
      fileStream().write(bytes, offset, count);
      bytesWritten += count;
    }

    private OutputStream fileStream() throws IOException {
      openFilePartition(partition);
      return fileStream;
    }

    private void requireOpen() throws IOException {
      if (isClosed) {
        throw new IOException("partition " + partition + " is closed");
      }
    }

    @Override
    public void close() throws IOException {
      isClosed = true;
      closeFileStream();
    }
  }
}
