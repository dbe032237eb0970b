package io.rdmashuffle.spark.tier;

import io.rdmashuffle.store.MappedOutput;
import io.rdmashuffle.store.MappedOutputs;
import io.rdmashuffle.store.OutputLayout;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntPredicate;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells readers of outputs in files: as far as there is room, that they can be read one-sided, and
 * else over TCP. Used by several threads.
 */
final class OneSidedFiles {
  private static final Logger LOG = LoggerFactory.getLogger(OneSidedFiles.class);

  private final MappedOutputs mapped;
  private final SparkFiles files;
  private final FileTier fileTier;
  private final Announcer announcer;
  private final IntPredicate isInUse;
  private final Predicate<Runnable> background;
  private final AtomicBoolean isMakingRoom = new AtomicBoolean();

  /**
   * @param isInUse whether the files of a shuffle should stay readable as they are
   * @param background begins work on another thread; false when it does not
   */
  OneSidedFiles(
      MappedOutputs mapped,
      SparkFiles files,
      FileTier fileTier,
      Announcer announcer,
      IntPredicate isInUse,
      Predicate<Runnable> background) {
    this.mapped = mapped;
    this.files = files;
    this.fileTier = fileTier;
    this.announcer = announcer;
    this.isInUse = isInUse;
    this.background = background;
  }

  /** The same for an output whose thread is not to wait: readers use TCP until it is done. */
  void announceLater(OutputLayout layout) {
    if (!background.test(() -> announce(layout))) {
      LOG.debug("map output {} stays unknown to readers, who use TCP", layout.mapTaskId());
    }
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
    mapped.onAnnounced(output);
    if (!fileTier.contains(shuffleId, mapTaskId)) { // its shuffle was removed meanwhile
      mapped.remove(output);
    }
  }

  /** One output of a shuffle in place of another gains nothing. */
  private List<MappedOutput> surplus(int shuffleId) {
    return mapped.surplus(id -> id == shuffleId || isInUse.test(id));
  }

  /** Earlier shuffles make room for the later outputs of this one. */
  private void makeRoomLater(int shuffleId) {
    if (!surplus(shuffleId).isEmpty() && isMakingRoom.compareAndSet(false, true)) {
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
    for (MappedOutput output : surplus(shuffleId)) {
      if (fileTier.contains(output.shuffleId(), output.mapTaskId())) {
        announcer.publishInFiles(output.shuffleId(), output.mapTaskId());
      }
      mapped.remove(output);
    }
  }
}
