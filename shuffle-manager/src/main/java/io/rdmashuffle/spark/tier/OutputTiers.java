package io.rdmashuffle.spark.tier;

import io.rdmashuffle.conf.Durability;
import io.rdmashuffle.spark.resolve.MemoryOutputs;
import io.rdmashuffle.store.BlockStore;
import io.rdmashuffle.store.IndexLocation;
import io.rdmashuffle.store.MapOutput;
import io.rdmashuffle.store.MappedOutputs;
import io.rdmashuffle.store.OutputLayout;
import io.rdmashuffle.store.SlabPoolGauges;
import io.rdmashuffle.transport.Deadline;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.SortedSet;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.apache.spark.shuffle.api.ShuffleMapOutputWriter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The map outputs of one executor: in memory, in files or both, as the durability asks and the
 * budget allows. Used by all tasks of the executor.
 */
public final class OutputTiers implements MemoryOutputs {
  private static final Logger LOG = LoggerFactory.getLogger(OutputTiers.class);

  private final BlockStore store;
  private final SparkFiles files;
  private final FileTier fileTier;
  private final Announcer announcer;
  private final Durability durability;
  private final boolean outlivesExecutor;
  private final WriteBehind writeBehind;
  private final ShufflesInUse inUse = new ShufflesInUse();
  private final ColdOutputs cold;
  private final MappedOutputs mapped;
  private final OneSidedFiles oneSidedFiles;

  private final LongAdder outputsBeyondBudget = new LongAdder();
  private final LongAdder outputsMoved = new LongAdder();
  private final LongAdder outputsWrittenThrough = new LongAdder();
  private final LongAdder failedWrites = new LongAdder();

  /**
   * How far outputs are written behind.
   *
   * @param maxBytes most bytes that wait for it
   * @param waitNs how long a task waits for room
   * @param outlivesExecutor whether files are still read when the executor is gone, so that its end
   *     waits for them
   */
  public record WriteBehindSettings(long maxBytes, long waitNs, boolean outlivesExecutor) {}

  /**
   * @param store outputs in memory; closed by these tiers
   * @param mapped outputs in files that peers read one-sided; closed by these tiers
   * @param announcer tells readers where outputs lie
   */
  public OutputTiers(
      BlockStore store,
      MappedOutputs mapped,
      SparkFiles files,
      Announcer announcer,
      Durability durability,
      WriteBehindSettings behind) {
    this.store = store;
    this.mapped = mapped;
    this.files = files;
    this.announcer = new DroppingAnnouncer(announcer);
    this.durability = durability;
    fileTier = new FileTier(files);
    outlivesExecutor = behind.outlivesExecutor();
    writeBehind = new WriteBehind("rdma-write-behind", behind.maxBytes(), behind.waitNs());
    cold = new ColdOutputs(store, this::isInUse, this::moveLater);
    oneSidedFiles =
        new OneSidedFiles(
            mapped,
            files,
            fileTier,
            this.announcer,
            this::isInUse,
            work -> writeBehind.offerNow(0, work));
  }

  /** Frees what is left of a shuffle when it turns out that the driver has dropped it. */
  private final class DroppingAnnouncer implements Announcer {
    private final Announcer driver;

    DroppingAnnouncer(Announcer driver) {
      this.driver = driver;
    }

    @Override
    public boolean publish(int shuffleId, long mapTaskId, IndexLocation location) {
      return orDrop(shuffleId, driver.publish(shuffleId, mapTaskId, location));
    }

    @Override
    public boolean publishInFiles(int shuffleId, long mapTaskId) {
      return orDrop(shuffleId, driver.publishInFiles(shuffleId, mapTaskId));
    }

    private boolean orDrop(int shuffleId, boolean isWanted) {
      if (!isWanted) {
        removeShuffle(shuffleId);
      }
      return isWanted;
    }
  }

  private boolean isInUse(int shuffleId) {
    return inUse.contains(shuffleId) || store.isBeingWritten(shuffleId);
  }

  @Override
  public BlockStore store() {
    return store;
  }

  /** Whether outputs go to memory at all, budget permitting. */
  public boolean isInMemory() {
    return durability != Durability.DISK && store.pool().budgetBytes() > 0;
  }

  /**
   * Whether the next output of a shuffle fits into memory, as far as one can know: of a shuffle
   * whose outputs had to go to files, another one goes there at once if it finds no more room,
   * instead of filling the memory there is and moving from there.
   */
  public boolean mayFit(int shuffleId) {
    return fileTier.meanBytes(shuffleId) <= store.pool().availableBytes();
  }

  /** Where an output goes that is not to be in memory. */
  public ShuffleMapOutputWriter newFileWriter(int shuffleId, long mapTaskId, int numPartitions)
      throws IOException {
    return files.newWriter(shuffleId, mapTaskId, numPartitions);
  }

  /**
   * An output was committed to memory: makes it known to readers, and sees to its files. What goes
   * wrong is logged; the output is in memory all the same.
   */
  public void onCommitted(MapOutput output) {
    if (durability == Durability.MEMORY_AND_DISK
        && !writeBehind.offer(output.length(), () -> writeFiles(output))) {
      outputsWrittenThrough.increment();
      writeFiles(output);
    }
    publish(output);
  }

  private void publish(MapOutput output) {
    announcer.publish(output.shuffleId(), output.mapTaskId(), output.location());
  }

  @Override
  public boolean onReceived(MapOutput output) {
    boolean keepsFiles = durability == Durability.MEMORY_AND_DISK;
    if (keepsFiles) {
      fileTier.add(output.shuffleId(), output.mapTaskId(), output.length());
    }
    publish(output);
    return keepsFiles;
  }

  @Override
  public void onReceivedInFiles(OutputLayout layout) {
    fileTier.add(layout.shuffleId(), layout.mapTaskId(), layout.length());
    oneSidedFiles.announceLater(layout);
  }

  /** An output was committed to files alone, and its data file is complete: tells readers. */
  public void onCommittedInFiles(OutputLayout layout) {
    fileTier.add(layout.shuffleId(), layout.mapTaskId(), layout.length());
    oneSidedFiles.announce(layout);
  }

  /**
   * The memory budget admits no more of an output. Waits a moment for memory that is about to be
   * free.
   *
   * @param deadline how long all waits for the output may take
   * @return whether it is worth trying again; if not, the output goes to files, and outputs that
   *     nobody uses begin to make room for the next
   */
  public boolean awaitMemory(Deadline deadline) {
    if (store.pool().awaitReclaimable(deadline)) {
      return true;
    }
    outputsBeyondBudget.increment();
    if (outputsBeyondBudget.sum() == 1) {
      LOG.warn(
          "map outputs go to files from now and then: the {} MiB of"
              + " spark.shuffle.rdma.memory.size are spent",
          store.pool().budgetBytes() >> 20);
    }
    cold.makeRoom();
    return false;
  }

  /** A task begins to read or to write a shuffle, whose outputs had better stay where they are. */
  public void beginUse(int shuffleId) {
    inUse.begin(shuffleId);
  }

  /** Undoes {@link #beginUse}. */
  public void endUse(int shuffleId) {
    inUse.end(shuffleId);
  }

  private boolean moveLater(MapOutput output, Consumer<MapOutput> whenDone) {
    return writeBehind.offerNow(
        output.length(),
        () -> {
          try {
            moveToFiles(output);
          } finally {
            whenDone.accept(output);
          }
        });
  }

  /** Readers are sent to the files first, then the memory goes: one of both is always there. */
  private void moveToFiles(MapOutput output) {
    if (!writeFiles(output) || !output.pin()) {
      return;
    }
    try {
      oneSidedFiles.announce(OutputLayout.of(output));
    } finally {
      output.unpin();
    }
    if (store.remove(output)) {
      outputsMoved.increment();
    }
  }

  @Override
  public boolean writeFiles(MapOutput output) {
    if (!output.pin()) {
      return false;
    }
    try {
      return fileTier.write(output);
    } catch (IOException | RuntimeException e) {
      failedWrites.increment();
      if (failedWrites.sum() == 1) {
        LOG.warn("{} stays in memory alone, and further ones may: no files for it", output, e);
      }
      return false;
    } finally {
      output.unpin();
    }
  }

  /**
   * Frees what a shuffle left in memory and files. A task that goes on after this, since Spark ends
   * jobs without waiting for stragglers, learns it when it publishes.
   */
  public void removeShuffle(int shuffleId) {
    store.removeShuffle(shuffleId);
    fileTier.removeShuffle(shuffleId);
    mapped.removeShuffle(shuffleId);
  }

  /**
   * Gives back what readers cannot be reading any more; to be called from time to time. Unmaps on
   * the thread that writes files.
   */
  public void sweep() {
    if (mapped.isSweepDue()) {
      writeBehind.offerNow(0, mapped::sweep);
    }
  }

  /** The shuffles of which there are outputs here. */
  public SortedSet<Integer> shuffleIds() {
    SortedSet<Integer> ids = fileTier.shuffleIds();
    ids.addAll(store.shuffleIds());
    return ids;
  }

  /** Adds counters under their names in the totals. */
  public void addGauges(Map<String, Long> gauges) {
    SlabPoolGauges pool = store.pool().gauges();
    gauges.put("slabs", (long) pool.slabs());
    gauges.put("slabBytes", pool.slabBytes());
    gauges.put("slabBytesLent", pool.allocatedBytes());
    gauges.put("memoryOutputs", (long) store.outputCount());
    gauges.put("memoryOutputBytes", store.dataBytes());
    gauges.put("fileOutputs", (long) fileTier.outputCount());
    gauges.put("fileOutputBytes", fileTier.dataBytes());
    MappedOutputs.Gauges inFiles = mapped.gauges();
    gauges.put("mappedOutputs", (long) inFiles.outputs());
    gauges.put("mappedRegions", (long) inFiles.regions());
    gauges.put("mappedBytes", inFiles.bytes());
    gauges.put("mappedIndexSlabBytes", mapped.indexPool().gauges().slabBytes());
    gauges.put("writeBehindBytes", writeBehind.pendingBytes());
    gauges.put("outputsBeyondBudget", outputsBeyondBudget.sum());
    gauges.put("outputsMoved", outputsMoved.sum());
    gauges.put("outputsWrittenThrough", outputsWrittenThrough.sum());
    gauges.put("failedFileWrites", failedWrites.sum());
  }

  /**
   * Ends the writing of files in the background. Where files outlive the executor, what waits is
   * written first, as far as the deadline allows.
   */
  public void endWriting(Deadline deadline) {
    long dropped = writeBehind.close(outlivesExecutor ? deadline : Deadline.after(Duration.ZERO));
    if (dropped > 0 && outlivesExecutor) {
      LOG.warn(
          "{} bytes of map outputs were not written to files before the executor ended; readers"
              + " compute them again. A smaller spark.shuffle.rdma.writeBehind.size leaves less to"
              + " write at the end",
          dropped);
    }
  }

  /**
   * Voids every output that peers read one-sided, waiting for readers and writers until the
   * deadline.
   */
  public void close(Deadline deadline) {
    store.close(deadline);
    mapped.close();
  }
}
