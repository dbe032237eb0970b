package io.rdmashuffle.spark.resolve;

import io.rdmashuffle.store.BlockStore;
import io.rdmashuffle.store.BudgetSpentException;
import io.rdmashuffle.store.ChecksumAlgorithm;
import io.rdmashuffle.store.MapOutput;
import io.rdmashuffle.store.MapOutputBuilder;
import io.rdmashuffle.store.OutputLayout;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.LongBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Files;
import java.nio.file.StandardOpenOption;
import org.apache.spark.network.client.StreamCallbackWithID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The second part of a map output that a decommissioned executor hands over: its index. The data
 * has come before, into Spark's data file. Once the index is there, too, the output moves into
 * memory, budget permitting, and is published, before Spark's own callback tells the driver that it
 * is here.
 *
 * <p>Used by one thread of Spark's TCP service, which has just written the same bytes to the file.
 */
final class ReceivedOutput implements StreamCallbackWithID {
  private static final Logger LOG = LoggerFactory.getLogger(ReceivedOutput.class);
  private static final int COPY_BYTES = 1 << 20;

  private final StreamCallbackWithID toFile;
  private final MemoryOutputs memory;
  private final int shuffleId;
  private final long mapTaskId;
  private final File indexFile;
  private final File dataFile;
  private final ByteArrayOutputStream index = new ByteArrayOutputStream();
  private final WritableByteChannel indexChannel = Channels.newChannel(index);

  /**
   * @param toFile Spark's own, which puts the index into its file
   */
  ReceivedOutput(
      StreamCallbackWithID toFile,
      MemoryOutputs memory,
      int shuffleId,
      long mapTaskId,
      File indexFile,
      File dataFile) {
    this.toFile = toFile;
    this.memory = memory;
    this.shuffleId = shuffleId;
    this.mapTaskId = mapTaskId;
    this.indexFile = indexFile;
    this.dataFile = dataFile;
  }

  @Override
  public String getID() {
    return toFile.getID();
  }

  @Override
  public void onData(String streamId, ByteBuffer bytes) throws IOException {
    indexChannel.write(bytes.duplicate());
    toFile.onData(streamId, bytes);
  }

  @Override
  public void onComplete(String streamId) throws IOException {
    MapOutput output = moveIntoMemory();
    boolean keepsFiles = true;
    if (output == null) {
      memory.onReceivedInFiles(layout());
    } else {
      keepsFiles = memory.onReceived(output);
    }
    toFile.onComplete(streamId);
    if (!keepsFiles) {
      Files.deleteIfExists(indexFile.toPath());
      Files.deleteIfExists(dataFile.toPath());
    }
  }

  @Override
  public void onFailure(String streamId, Throwable cause) throws IOException {
    toFile.onFailure(streamId, cause);
  }

  private OutputLayout layout() {
    LongBuffer offsets = ByteBuffer.wrap(index.toByteArray()).asLongBuffer();
    long[] copied = new long[Math.max(1, offsets.remaining())];
    offsets.get(copied, 0, offsets.remaining());
    return new OutputLayout(shuffleId, mapTaskId, copied, new long[0], ChecksumAlgorithm.NONE);
  }

  /** Null when it stays in files. */
  private MapOutput moveIntoMemory() {
    BlockStore store = memory.store();
    ByteBuffer offsets = ByteBuffer.wrap(index.toByteArray());
    int numPartitions = offsets.remaining() / Long.BYTES - 1;
    if (numPartitions < 1) {
      return null;
    }
    try (MapOutputBuilder builder = store.begin(shuffleId, mapTaskId, numPartitions)) {
      if (dataFile.exists()) {
        copy(offsets, numPartitions, builder);
      }
      return builder.commit();
    } catch (BudgetSpentException e) {
      LOG.info(
          "map output {} of shuffle {} stays in files: {}", mapTaskId, shuffleId, e.getMessage());
    } catch (IOException | IllegalArgumentException e) {
      LOG.warn("map output {} of shuffle {} was received but not read", mapTaskId, shuffleId, e);
    }
    return null;
  }

  private void copy(ByteBuffer offsets, int numPartitions, MapOutputBuilder builder)
      throws IOException {
    ByteBuffer copied = ByteBuffer.allocate(COPY_BYTES).limit(0);
    try (FileChannel data = FileChannel.open(dataFile.toPath(), StandardOpenOption.READ)) {
      for (int partition = 0; partition < numPartitions; partition++) {
        long left =
            offsets.getLong((partition + 1) * Long.BYTES) - offsets.getLong(partition * Long.BYTES);
        if (left > 0) {
          builder.startPartition(partition);
        }
        while (left > 0) {
          refill(copied, data);
          int count = (int) Math.min(left, copied.remaining());
          builder.write(copied.slice(copied.position(), count));
          copied.position(copied.position() + count);
          left -= count;
        }
      }
    }
  }

  private void refill(ByteBuffer copied, FileChannel data) throws IOException {
    if (copied.hasRemaining()) {
      return;
    }
    copied.clear();
    if (data.read(copied) < 0) {
      throw new IOException(dataFile + " ends before its last partition does");
    }
    copied.flip();
  }
}
