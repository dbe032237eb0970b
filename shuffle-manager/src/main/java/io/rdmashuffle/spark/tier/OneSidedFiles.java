package io.rdmashuffle.spark.tier;

import io.rdmashuffle.store.MappedOutput;
import io.rdmashuffle.store.MappedOutputs;
import io.rdmashuffle.store.OutputLayout;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;

/**
 * Tells readers of outputs in files: as far as there is room, that they can be read one-sided, and
 * else over TCP. Used by several threads, none of which serves a reader.
 */
final class OneSidedFiles {
  private final MappedOutputs mapped;
  private final SparkFiles files;
  private final FileTier fileTier;
  private final Announcer announcer;
  private final Predicate<Runnable> background;
  private final AtomicBoolean isMakingRoom = new AtomicBoolean();

  /**
   * @param background begins work on another thread; false when it does not
   */
  OneSidedFiles(
      MappedOutputs mapped,
      SparkFiles files,
      FileTier fileTier,
      Announcer announcer,
      Predicate<Runnable> background) {
    this.mapped = mapped;
    this.files = files;
    this.fileTier = fileTier;
    this.announcer = announcer;
    this.background = background;
  }

  /** The files of an output are complete, and known to the file tier. */
  void announce(OutputLayout layout) {
    int shuffleId = layout.shuffleId();
    long mapTaskId = layout.mapTaskId();
    MappedOutput output = mapped.map(layout, files.dataFile(shuffleId, mapTaskId));
    if (output == null) {
      announcer.publishInFiles(shuffleId, mapTaskId);
      makeRoomLater(shuffleId);
      return;
    }
    announcer.publish(shuffleId, mapTaskId, output.location());
    if (!fileTier.contains(shuffleId, mapTaskId)) { // its shuffle was removed meanwhile
      mapped.remove(output);
    }
  }

  /** Earlier shuffles make room for the later outputs of this one. */
  private void makeRoomLater(int shuffleId) {
    if (!mapped.surplus(shuffleId).isEmpty() && isMakingRoom.compareAndSet(false, true)) {
      boolean isBegun =
          background.test(
              () -> {
                try {
                  makeRoom(shuffleId);
                } finally {
                  isMakingRoom.set(false);
                }
              });
      if (!isBegun) {
        isMakingRoom.set(false);
      }
    }
  }

  /** Readers are sent to TCP first, and only then do they find nothing. */
  private void makeRoom(int shuffleId) {
    for (MappedOutput output : mapped.surplus(shuffleId)) {
      if (fileTier.contains(output.shuffleId(), output.mapTaskId())) {
        announcer.publishInFiles(output.shuffleId(), output.mapTaskId());
      }
      mapped.remove(output);
    }
  }
}
