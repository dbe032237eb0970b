package io.rdmashuffle.spark.resolve;

import io.rdmashuffle.store.MapOutput;
import java.io.BufferedOutputStream;
import java.io.DataOutputStream;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.StandardCopyOption;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.apache.spark.shuffle.ShuffleBlockInfo;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Files with the checksums of map outputs in memory, by which Spark diagnoses corruption. Keeps
 * note of them, since they are to be deleted with the output. Safe for use by several threads.
 */
final class ChecksumFiles {
  private static final Logger LOG = LoggerFactory.getLogger(ChecksumFiles.class);

  private final IndexShuffleBlockResolver resolver;
  private final Set<ShuffleBlockInfo> written = ConcurrentHashMap.newKeySet();

  ChecksumFiles(IndexShuffleBlockResolver resolver) {
    this.resolver = resolver;
  }

  /**
   * Writes the checksums of an output as Spark's writers leave them in a file. Never fails.
   *
   * @param output with checksums, pinned by the caller; this undoes the pin
   */
  void write(MapOutput output, File file) {
    written.add(new ShuffleBlockInfo(output.shuffleId(), output.mapTaskId()));
    try {
      writeAll(output, file);
    } catch (IOException e) {
      LOG.warn("corruption of {} cannot be diagnosed: no file for its checksums", output, e);
    } finally {
      output.unpin();
    }
  }

  private void writeAll(MapOutput output, File file) throws IOException {
    File unfinished = resolver.createTempFile(file);
    try {
      try (DataOutputStream out =
          new DataOutputStream(
              new BufferedOutputStream(Files.newOutputStream(unfinished.toPath())))) {
        for (long checksum : output.checksums()) {
          out.writeLong(checksum);
        }
      }
      Files.move(unfinished.toPath(), file.toPath(), StandardCopyOption.ATOMIC_MOVE);
    } finally {
      Files.deleteIfExists(unfinished.toPath());
    }
  }

  /** Whether there may be a file of an output; asked once, by whoever deletes it. */
  boolean forget(int shuffleId, long mapTaskId) {
    return written.remove(new ShuffleBlockInfo(shuffleId, mapTaskId));
  }
}
