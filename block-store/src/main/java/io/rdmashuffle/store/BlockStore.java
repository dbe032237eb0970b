package io.rdmashuffle.store;

import io.rdmashuffle.transport.Deadline;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The map outputs of one executor that lie in memory. Several attempts of a map task may be written
 * at once; of those committed, the latest counts.
 *
 * <p>All methods may be called from any thread.
 */
public final class BlockStore implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(BlockStore.class);

  /** How long {@link #close()} waits for readers and writers of this process. */
  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(5);

  private final SlabPool pool;

  // Guarded by lock: the shuffle of each attempt that is being written and whose shuffle was not
  // removed since it began, and the outputs by shuffle and map task, oldest first.
  private final Object lock = new Object();
  private final Map<Long, Integer> openAttempts = new HashMap<>();
  private long nextAttempt;
  private final Map<Integer, Map<Long, MapOutput>> shuffles = new LinkedHashMap<>();
  private int outputCount;
  private long dataBytes;
  private boolean isClosed;

  /**
   * @param pool where outputs lie; owned and closed by the store
   */
  public BlockStore(SlabPool pool) {
    this.pool = pool;
  }

  /** The pool outputs lie in, for its slab table and gauges. */
  public SlabPool pool() {
    return pool;
  }

  /**
   * Begins an attempt of a map task. Takes no memory before the first byte is written.
   *
   * @param mapTaskId Spark's task attempt id, which names the output
   * @param numPartitions at least 0
   * @throws IllegalStateException when the store is closed
   */
  public MapOutputBuilder begin(int shuffleId, long mapTaskId, int numPartitions) {
    if (numPartitions < 0) {
      throw new IllegalArgumentException("numPartitions=" + numPartitions + " < 0");
    }
    long attempt;
    synchronized (lock) {
      if (isClosed) {
        throw new IllegalStateException("the block store is closed");
      }
      attempt = nextAttempt++;
      openAttempts.put(attempt, shuffleId);
    }
    return new MapOutputBuilder(this, pool, attempt, shuffleId, mapTaskId, numPartitions);
  }

  /** The committed output of a map task, null when there is none. Pin it before reading. */
  public MapOutput get(int shuffleId, long mapTaskId) {
    synchronized (lock) {
      Map<Long, MapOutput> outputs = shuffles.get(shuffleId);
      return outputs == null ? null : outputs.get(mapTaskId);
    }
  }

  public boolean contains(int shuffleId, long mapTaskId) {
    return get(shuffleId, mapTaskId) != null;
  }

  /**
   * Removes the output of a map task: void at once, its memory used again after the last pin and
   * the quarantine.
   *
   * @return whether there was one
   */
  public boolean remove(int shuffleId, long mapTaskId) {
    MapOutput output = get(shuffleId, mapTaskId);
    return output != null && remove(output);
  }

  /**
   * Removes an output as {@link #remove(int, long)} does.
   *
   * @return whether it was there; not when it was removed or replaced before
   */
  public boolean remove(MapOutput output) {
    synchronized (lock) {
      Map<Long, MapOutput> outputs = shuffles.get(output.shuffleId());
      if (outputs == null || !outputs.remove(output.mapTaskId(), output)) {
        return false;
      }
      if (outputs.isEmpty()) {
        shuffles.remove(output.shuffleId());
      }
      uncount(output);
    }
    output.remove();
    return true;
  }

  /** Whether an attempt of a map task of the shuffle is being written now. */
  public boolean isBeingWritten(int shuffleId) {
    synchronized (lock) {
      return openAttempts.containsValue(shuffleId);
    }
  }

  /**
   * Removes every output of a shuffle, those included whose builders are open now.
   *
   * @return number of outputs removed
   */
  public int removeShuffle(int shuffleId) {
    List<MapOutput> removed;
    synchronized (lock) {
      openAttempts.values().removeIf(id -> id == shuffleId);
      Map<Long, MapOutput> outputs = shuffles.remove(shuffleId);
      removed = outputs == null ? List.of() : List.copyOf(outputs.values());
      removed.forEach(this::uncount);
    }
    removed.forEach(MapOutput::remove);
    return removed.size();
  }

  /** The committed outputs there are now: shuffle after shuffle, oldest first. */
  public List<MapOutput> outputs() {
    synchronized (lock) {
      return shuffles.values().stream().map(Map::values).flatMap(Collection::stream).toList();
    }
  }

  /** The shuffles of which there are committed outputs now. */
  public Set<Integer> shuffleIds() {
    synchronized (lock) {
      return Set.copyOf(shuffles.keySet());
    }
  }

  /** Number of committed outputs. */
  public int outputCount() {
    synchronized (lock) {
      return outputCount;
    }
  }

  /** Bytes of the partitions of all committed outputs. */
  public long dataBytes() {
    synchronized (lock) {
      return dataBytes;
    }
  }

  /** Closes the store, waiting a few seconds at most for its readers and writers. */
  @Override
  public void close() {
    close(Deadline.after(CLOSE_TIMEOUT));
  }

  /**
   * Voids every output and closes the pool. Pinned outputs and open builders are waited for until
   * the deadline; what is still in use then keeps its slab mapped until it is let go. Idempotent.
   */
  public void close(Deadline deadline) {
    List<MapOutput> removed;
    synchronized (lock) {
      if (isClosed) {
        return;
      }
      isClosed = true;
      openAttempts.clear();
      removed = outputs();
      shuffles.clear();
      removed.forEach(this::uncount);
    }
    removed.forEach(MapOutput::remove);
    if (!pool.awaitNothingLent(deadline)) {
      LOG.warn("Closing while map outputs are still read or written: {}", pool.gauges());
    }
    pool.close();
  }

  /** An attempt was committed. */
  void enter(long attempt, MapOutput output) {
    MapOutput replaced = output;
    synchronized (lock) {
      if (openAttempts.remove(attempt) != null) {
        replaced =
            shuffles
                .computeIfAbsent(output.shuffleId(), id -> new LinkedHashMap<>())
                .put(output.mapTaskId(), output);
        outputCount++;
        dataBytes += output.length();
        uncount(replaced);
      }
    }
    // The output itself, when its shuffle was removed while it was being written.
    if (replaced != null) {
      replaced.remove();
    }
  }

  /** An attempt was aborted. */
  void leave(long attempt) {
    synchronized (lock) {
      openAttempts.remove(attempt);
    }
  }

  private void uncount(MapOutput output) {
    if (output != null) {
      outputCount--;
      dataBytes -= output.length();
    }
  }
}
