package io.rdmashuffle.spark.tier;

import io.rdmashuffle.store.MapOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * Which map outputs of this executor lie in files, whether or not in memory too. An output that is
 * removed while its files are being written leaves none. Used by several threads.
 */
final class FileTier {
  private enum State {
    WRITING,
    WRITTEN
  }

  private static final class Entry {
    State state = State.WRITING;
    long bytes;
  }

  /** Those of one shuffle; what is written of them is counted. */
  private static final class Shuffle {
    final Map<Long, Entry> entries = new HashMap<>();
    int outputs;
    long bytes;
  }

  private final OutputFiles files;

  // Guarded by this.
  private final Map<Integer, Shuffle> shuffles = new HashMap<>();
  private int outputs;
  private long bytes;

  FileTier(OutputFiles files) {
    this.files = files;
  }

  /**
   * Writes the files of an output in memory unless it has them.
   *
   * @param output pinned by the caller
   * @return whether the files are there now: not when another thread is writing them, nor when the
   *     output was removed meanwhile
   */
  boolean write(MapOutput output) throws IOException {
    Entry entry;
    synchronized (this) {
      Entry known = entry(output.shuffleId(), output.mapTaskId());
      if (known != null) {
        return known.state == State.WRITTEN;
      }
      entry = put(output.shuffleId(), output.mapTaskId());
    }
    boolean isWritten = false;
    try {
      files.write(output);
      isWritten = true;
    } finally {
      if (!isWritten) {
        forget(output.shuffleId(), output.mapTaskId());
      }
    }
    return keepUnlessRemoved(output, entry);
  }

  private boolean keepUnlessRemoved(MapOutput output, Entry entry) {
    synchronized (this) {
      if (entry(output.shuffleId(), output.mapTaskId()) == entry) {
        count(output.shuffleId(), entry, output.length());
        return true;
      }
    }
    files.delete(output.shuffleId(), output.mapTaskId());
    return false;
  }

  /** An output was written to files by others, over what there may have been. */
  synchronized void add(int shuffleId, long mapTaskId, long outputBytes) {
    forget(shuffleId, mapTaskId);
    count(shuffleId, put(shuffleId, mapTaskId), outputBytes);
  }

  private void count(int shuffleId, Entry entry, long outputBytes) {
    entry.state = State.WRITTEN;
    entry.bytes = outputBytes;
    addToBooks(shuffles.get(shuffleId), 1, outputBytes);
  }

  private void addToBooks(Shuffle shuffle, int moreOutputs, long moreBytes) {
    shuffle.outputs += moreOutputs;
    shuffle.bytes += moreBytes;
    outputs += moreOutputs;
    bytes += moreBytes;
  }

  synchronized boolean contains(int shuffleId, long mapTaskId) {
    Entry entry = entry(shuffleId, mapTaskId);
    return entry != null && entry.state == State.WRITTEN;
  }

  /** Deletes the files of an output, now or once they are written; unknown ones are left alone. */
  void remove(int shuffleId, long mapTaskId) {
    Entry removed = forget(shuffleId, mapTaskId);
    if (removed != null && removed.state == State.WRITTEN) {
      files.delete(shuffleId, mapTaskId);
    }
  }

  /** Deletes the files of a shuffle. */
  void removeShuffle(int shuffleId) {
    List<Long> mapTaskIds;
    synchronized (this) {
      Shuffle shuffle = shuffles.get(shuffleId);
      mapTaskIds = shuffle == null ? List.of() : new ArrayList<>(shuffle.entries.keySet());
    }
    for (long mapTaskId : mapTaskIds) {
      remove(shuffleId, mapTaskId);
    }
  }

  /** The shuffles of which there are files here, or are being written. */
  synchronized SortedSet<Integer> shuffleIds() {
    return new TreeSet<>(shuffles.keySet());
  }

  /** Number of outputs in files. */
  synchronized int outputCount() {
    return outputs;
  }

  /** Bytes of the partitions of those outputs. */
  synchronized long dataBytes() {
    return bytes;
  }

  /** Mean bytes of the outputs of a shuffle that are in files; 0 when there are none. */
  synchronized long meanBytes(int shuffleId) {
    Shuffle shuffle = shuffles.get(shuffleId);
    return shuffle == null || shuffle.outputs == 0 ? 0 : shuffle.bytes / shuffle.outputs;
  }

  private Entry entry(int shuffleId, long mapTaskId) {
    Shuffle shuffle = shuffles.get(shuffleId);
    return shuffle == null ? null : shuffle.entries.get(mapTaskId);
  }

  private Entry put(int shuffleId, long mapTaskId) {
    Entry entry = new Entry();
    shuffles.computeIfAbsent(shuffleId, id -> new Shuffle()).entries.put(mapTaskId, entry);
    return entry;
  }

  private synchronized Entry forget(int shuffleId, long mapTaskId) {
    Shuffle shuffle = shuffles.get(shuffleId);
    if (shuffle == null) {
      return null;
    }
    Entry removed = shuffle.entries.remove(mapTaskId);
    if (removed != null && removed.state == State.WRITTEN) {
      addToBooks(shuffle, -1, -removed.bytes);
    }
    if (shuffle.entries.isEmpty()) {
      shuffles.remove(shuffleId);
    }
    return removed;
  }
}
