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

  private final OutputFiles files;

  // Guarded by this.
  private final Map<Integer, Map<Long, Entry>> shuffles = new HashMap<>();
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
        count(entry, output.length());
        return true;
      }
    }
    files.delete(output.shuffleId(), output.mapTaskId());
    return false;
  }

  /** An output was written to files by others, over what there may have been. */
  synchronized void add(int shuffleId, long mapTaskId, long outputBytes) {
    forget(shuffleId, mapTaskId);
    count(put(shuffleId, mapTaskId), outputBytes);
  }

  private void count(Entry entry, long outputBytes) {
    entry.state = State.WRITTEN;
    entry.bytes = outputBytes;
    outputs++;
    bytes += outputBytes;
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
      Map<Long, Entry> entries = shuffles.get(shuffleId);
      mapTaskIds = entries == null ? List.of() : new ArrayList<>(entries.keySet());
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

  private Entry entry(int shuffleId, long mapTaskId) {
    Map<Long, Entry> entries = shuffles.get(shuffleId);
    return entries == null ? null : entries.get(mapTaskId);
  }

  private Entry put(int shuffleId, long mapTaskId) {
    Entry entry = new Entry();
    shuffles.computeIfAbsent(shuffleId, id -> new HashMap<>()).put(mapTaskId, entry);
    return entry;
  }

  private synchronized Entry forget(int shuffleId, long mapTaskId) {
    Map<Long, Entry> entries = shuffles.get(shuffleId);
    if (entries == null) {
      return null;
    }
    Entry removed = entries.remove(mapTaskId);
    if (entries.isEmpty()) {
      shuffles.remove(shuffleId);
    }
    if (removed != null && removed.state == State.WRITTEN) {
      outputs--;
      bytes -= removed.bytes;
    }
    return removed;
  }
}
