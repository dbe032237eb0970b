package io.rdmashuffle.store;

import io.rdmashuffle.transport.Access;
import io.rdmashuffle.transport.FileWindow;
import io.rdmashuffle.transport.LogLimit;
import io.rdmashuffle.transport.Transport;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntPredicate;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The map outputs in files that peers read one-sided: their files mapped and registered, their
 * index blocks in slabs of their own. Bounded in regions and in bytes, those in quarantine
 * included; what does not fit is read over TCP.
 *
 * <p>An output that is removed is void at once; its file stays mapped, registered and open for the
 * quarantine, since peers may be reading it. {@link #sweep} ends quarantines and is to be called
 * from time to time.
 *
 * <p>All methods may be called from any thread. The lock is held for the books alone, never while a
 * file is mapped or registered.
 */
public final class MappedOutputs implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(MappedOutputs.class);

  /** The part of the bounds to have free, or in quarantine, for what comes next. */
  private static final int PART_TO_FREE = 4;

  /**
   * How much may be mapped.
   *
   * @param regions windows of files; 0 for none
   * @param bytes of those windows; 0 for none
   */
  public record Limits(int regions, long bytes) {}

  /** What is mapped, in quarantine or on the way to either. */
  public record Gauges(int outputs, int regions, long bytes) {}

  private final SlabPool indexPool;
  private final SlabRegistrar registrar;
  private final Limits limits;
  private final LongSupplier nanoClock;
  private final LogLimit failures = new LogLimit(Duration.ofMinutes(1));
  private final LogLimit refusals = new LogLimit(Duration.ofMinutes(1));

  // Guarded by lock. Outputs by shuffle and map task, oldest first; what is mapped, or about to be,
  // or in quarantine, counts.
  private final Object lock = new Object();
  private final Map<Integer, Map<Long, MappedOutput>> shuffles = new LinkedHashMap<>();
  private final Quarantine<MappedOutput> quarantine;
  private int outputs;
  private int regions;
  private long bytes;
  private int lingeringRegions;
  private long lingeringBytes;
  private boolean isClosed;

  /**
   * @param indexPool where index blocks lie; owned and closed by this
   * @param transports to register files with; stay the caller's
   * @param quarantine how long removed outputs stay mapped
   */
  public MappedOutputs(
      SlabPool indexPool, List<Transport> transports, Limits limits, Duration quarantine) {
    this(indexPool, transports, limits, quarantine.toNanos(), System::nanoTime);
  }

  MappedOutputs(
      SlabPool indexPool,
      List<Transport> transports,
      Limits limits,
      long quarantineNs,
      LongSupplier nanoClock) {
    this.indexPool = indexPool;
    this.limits = limits;
    this.nanoClock = nanoClock;
    registrar = new SlabRegistrar("map outputs", transports, Access.REMOTE_READ);
    quarantine = new Quarantine<>(quarantineNs);
  }

  /** The pool of the index blocks, for its slab table. */
  public SlabPool indexPool() {
    return indexPool;
  }

  /**
   * Makes the file of an output readable by peers, in place of an earlier one of the same map task.
   * Takes as long as to map and register it; never called for a peer that wants to read.
   *
   * @param file complete, with the bytes of the partitions and nothing else, never changed again
   * @return null when it cannot be, since there is no room or no transport for it; what went wrong
   *     is logged
   */
  public MappedOutput map(OutputLayout layout, Path file) {
    int count = (int) ((layout.length() + FileWindow.MAX_LENGTH - 1) / FileWindow.MAX_LENGTH);
    if (count == 0 || registrar.isIdle()) {
      return null;
    }
    if (!reserve(count, layout.length())) {
      onNoRoom(file, "the regions or bytes for files");
      return null;
    }
    Extent index = null;
    List<Slab> windows = new ArrayList<>(count);
    MappedOutput output = null;
    try {
      long indexLength = header(layout, count, registrar.transports()).blockLength();
      index = indexPool.allocate(indexLength, indexLength);
      if (index == null) {
        onNoRoom(file, "the memory for index blocks of files, which needs " + indexLength);
        return null;
      }
      for (long position = 0; position < layout.length(); position += FileWindow.MAX_LENGTH) {
        int length = (int) Math.min(FileWindow.MAX_LENGTH, layout.length() - position);
        windows.add(registrar.register(FileWindow.map(file, position, length)));
      }
      output = publish(layout, windows, index);
    } catch (IOException | RuntimeException e) {
      onFailed(file, e);
    } finally {
      if (output == null) {
        MappedOutput.unmap(windows);
        if (index != null) {
          indexPool.free(index);
        }
        release(count, layout.length());
      }
    }
    return output != null && enter(output) ? output : null;
  }

  private static IndexHeader header(OutputLayout layout, int windows, int keys) {
    return new IndexHeader(
        Generations.VOID,
        layout.shuffleId(),
        layout.mapTaskId(),
        layout.numPartitions(),
        windows,
        layout.algorithm(),
        keys);
  }

  private MappedOutput publish(OutputLayout layout, List<Slab> windows, Extent index) {
    List<SlabDescriptor> descriptors = windows.stream().map(Slab::descriptor).toList();
    int keys = descriptors.get(0).registrations().size();
    if (keys == 0 || descriptors.stream().anyMatch(w -> w.registrations().size() != keys)) {
      return null; // the registrar has said why
    }
    IndexHeader header = header(layout, windows.size(), keys);
    int length = (int) header.blockLength();
    indexPool.trim(index, length); // a transport may have refused the file
    IndexLocation location =
        new IndexLocation(index.slab().id(), index.offset(), length, Generations.next());
    IndexBlock.encode(
        index.slab().buffer(),
        index.offset(),
        header,
        layout.offsets(),
        layout.checksums(),
        descriptors);
    Generations.publish(index.slab().buffer(), index.offset(), location.generation());
    return new MappedOutput(layout, windows, index, location);
  }

  private void onNoRoom(Path file, String what) {
    long before = refusals.admit();
    if (before >= 0) {
      LOG.info(
          "{} is read over TCP, as {} before it: no room in {}; earlier shuffles make room",
          file,
          before,
          what);
    }
  }

  private void onFailed(Path file, Exception failure) {
    // Its shuffle may be removed while it is mapped.
    long before = failure instanceof NoSuchFileException ? -1 : failures.admit();
    if (before >= 0) {
      LOG.warn("{} is read over TCP, as {} before it: it cannot be mapped", file, before, failure);
    }
  }

  /** Makes a new output known; false when this was closed meanwhile. */
  private boolean enter(MappedOutput output) {
    MappedOutput replaced = output;
    synchronized (lock) {
      if (!isClosed) {
        replaced =
            shuffles
                .computeIfAbsent(output.shuffleId(), id -> new LinkedHashMap<>())
                .put(output.mapTaskId(), output);
        outputs += replaced == null ? 1 : 0;
      }
      if (replaced != null) {
        countLingering(replaced, 1);
      }
    }
    if (replaced != null) {
      retire(replaced);
    }
    return replaced != output;
  }

  /** Removes an output: void at once, unmapped after the quarantine. */
  public void remove(MappedOutput output) {
    synchronized (lock) {
      Map<Long, MappedOutput> known = shuffles.get(output.shuffleId());
      if (known == null || !known.remove(output.mapTaskId(), output)) {
        return; // removed or replaced before
      }
      if (known.isEmpty()) {
        shuffles.remove(output.shuffleId());
      }
      outputs--;
      countLingering(output, 1);
    }
    retire(output);
  }

  /** Removes every output of a shuffle. */
  public void removeShuffle(int shuffleId) {
    List<MappedOutput> removed;
    synchronized (lock) {
      Map<Long, MappedOutput> known = shuffles.remove(shuffleId);
      removed = known == null ? List.of() : List.copyOf(known.values());
      outputs -= removed.size();
      removed.forEach(output -> countLingering(output, 1));
    }
    removed.forEach(this::retire);
  }

  /** Readers were told where an output lies: from now on it may have to make room for others. */
  public void onAnnounced(MappedOutput output) {
    synchronized (lock) {
      output.setAnnounced();
    }
  }

  /**
   * The outputs to remove so that later ones find room: the oldest, until a quarter of the bounds
   * is free or in quarantine.
   *
   * @param stays whether the outputs of a shuffle are to stay
   */
  public List<MappedOutput> surplus(IntPredicate stays) {
    long excessIndexBytes =
        indexPool.budgetBytes() / PART_TO_FREE
            - indexPool.availableBytes()
            - indexPool.gauges().quarantinedBytes();
    List<MappedOutput> surplus = new ArrayList<>();
    synchronized (lock) {
      long excessBytes = bytes - lingeringBytes - mostToKeep(limits.bytes);
      long excessRegions = regions - lingeringRegions - mostToKeep(limits.regions);
      for (Map.Entry<Integer, Map<Long, MappedOutput>> shuffle : shuffles.entrySet()) {
        if (stays.test(shuffle.getKey())) {
          continue;
        }
        for (MappedOutput output : shuffle.getValue().values()) {
          boolean isExcess = excessBytes > 0 || excessRegions > 0 || excessIndexBytes > 0;
          if (isExcess && output.isAnnounced()) {
            surplus.add(output);
            excessBytes -= output.length();
            excessRegions -= output.windows().size();
            excessIndexBytes -= output.index().length();
          }
        }
      }
    }
    return surplus;
  }

  private static long mostToKeep(long limit) {
    return limit - (limit + PART_TO_FREE - 1) / PART_TO_FREE;
  }

  /** Whether there is something to {@link #sweep}. */
  public boolean isSweepDue() {
    synchronized (lock) {
      return quarantine.firstExpiresInNs(nanoClock.getAsLong()) <= 0;
    }
  }

  /** Unmaps what was in quarantine long enough, which takes a while for large files. */
  public void sweep() {
    MappedOutput expired = pollExpired();
    while (expired != null) {
      unmap(expired);
      expired = pollExpired();
    }
  }

  private MappedOutput pollExpired() {
    synchronized (lock) {
      return quarantine.pollExpired(nanoClock.getAsLong());
    }
  }

  /** What is held now, as one consistent picture. */
  public Gauges gauges() {
    synchronized (lock) {
      return new Gauges(outputs, regions, bytes);
    }
  }

  /** Voids every output, ends every quarantine, and unmaps all. Idempotent. */
  @Override
  public void close() {
    List<MappedOutput> removed;
    List<MappedOutput> lingering = new ArrayList<>();
    synchronized (lock) {
      if (isClosed) {
        return;
      }
      isClosed = true;
      removed = shuffles.values().stream().map(Map::values).flatMap(Collection::stream).toList();
      shuffles.clear();
      outputs = 0;
      removed.forEach(output -> countLingering(output, 1));
      quarantine.drainTo(lingering);
    }
    removed.forEach(this::retire);
    lingering.forEach(this::unmap);
    indexPool.close();
  }

  /** The generation goes first, so that no peer trusts what it reads from here on. */
  private void retire(MappedOutput output) {
    Generations.voidAt(output.index().slab().buffer(), output.index().offset());
    indexPool.retire(output.index());
    boolean isLast;
    synchronized (lock) {
      isLast = isClosed;
      if (!isLast) {
        quarantine.add(output, output.length(), nanoClock.getAsLong());
      }
    }
    if (isLast) {
      unmap(output);
    }
  }

  private void unmap(MappedOutput output) {
    output.unmap();
    synchronized (lock) {
      countLingering(output, -1);
      release(output.windows().size(), output.length());
    }
  }

  /** Called with the lock held when an output is void, and when it is unmapped. */
  private void countLingering(MappedOutput output, int sign) {
    lingeringRegions += sign * output.windows().size();
    lingeringBytes += sign * output.length();
  }

  private boolean reserve(int count, long length) {
    if (tryReserve(count, length)) {
      return true;
    }
    sweep();
    return tryReserve(count, length);
  }

  private boolean tryReserve(int count, long length) {
    synchronized (lock) {
      if (isClosed || regions + count > limits.regions || bytes + length > limits.bytes) {
        return false;
      }
      regions += count;
      bytes += length;
      return true;
    }
  }

  private void release(int count, long length) {
    synchronized (lock) {
      regions -= count;
      bytes -= length;
    }
  }
}
