package io.rdmashuffle.it.features;

import io.rdmashuffle.store.ChecksumAlgorithm;
import io.rdmashuffle.store.MapOutput;
import io.rdmashuffle.store.Tampering;
import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.Adler32;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;
import java.util.zip.Checksum;
import org.apache.spark.SparkEnv;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;

/** Spoils map outputs, and looks at their checksums, in the executor that holds them. */
final class Corruption {
  private Corruption() {}

  /** Every output of a shuffle that this executor has in memory; how many those are. */
  static int inMemory(int shuffleId) {
    List<MapOutput> outputs = ExecutorSide.outputs(shuffleId);
    outputs.forEach(Tampering::flipBits);
    return outputs.size();
  }

  /** Every byte of the data files that this executor has of the given map tasks. */
  static int inFiles(int shuffleId, List<Long> mapTaskIds) throws IOException {
    IndexShuffleBlockResolver resolver =
        (IndexShuffleBlockResolver) SparkEnv.get().shuffleManager().shuffleBlockResolver();
    int count = 0;
    for (long mapTaskId : mapTaskIds) {
      File data = resolver.getDataFile(shuffleId, mapTaskId);
      if (data.exists()) {
        flip(data);
        count++;
      }
    }
    return count;
  }

  /** Whole stretches, so that every block has its share. */
  private static void flip(File file) throws IOException {
    try (RandomAccessFile data = new RandomAccessFile(file, "rw")) {
      byte[] bytes = new byte[(int) data.length()];
      data.readFully(bytes);
      for (int i = 0; i < bytes.length; i += 100) {
        bytes[i] ^= 1;
      }
      data.seek(0);
      data.write(bytes);
    }
  }

  /**
   * Of every partition of the outputs in this executor's memory, whether its checksum is that of
   * its bytes by an algorithm.
   */
  static List<Boolean> areChecksumsRight(int shuffleId, ChecksumAlgorithm algorithm) {
    List<Boolean> right = new ArrayList<>();
    for (MapOutput output : ExecutorSide.outputs(shuffleId)) {
      long[] checksums = output.checksums();
      for (int partition = 0; partition < output.numPartitions(); partition++) {
        if (output.partitionLength(partition) > 0) {
          right.add(
              output.checksumAlgorithm() == algorithm
                  && checksums[partition] == checksum(output, partition, algorithm));
        }
      }
    }
    return right;
  }

  private static long checksum(MapOutput output, int partition, ChecksumAlgorithm algorithm) {
    Checksum checksum =
        switch (algorithm) {
          case ADLER32 -> new Adler32();
          case CRC32 -> new CRC32();
          case CRC32C -> new CRC32C();
          case NONE -> throw new IllegalArgumentException("no checksum");
        };
    for (ByteBuffer piece : output.slices(partition, partition + 1)) {
      checksum.update(piece);
    }
    return checksum.getValue();
  }
}
