package io.rdmashuffle.spark;

import io.rdmashuffle.spark.directory.DirectoryClient;
import io.rdmashuffle.spark.directory.DirectoryException;
import io.rdmashuffle.spark.directory.ExecutorRecord;
import io.rdmashuffle.spark.directory.OutputRecord;
import io.rdmashuffle.spark.directory.SlabRecord;
import io.rdmashuffle.spark.tier.Announcer;
import io.rdmashuffle.store.IndexLocation;
import io.rdmashuffle.store.SlabDescriptor;
import io.rdmashuffle.store.SlabPool;
import io.rdmashuffle.transport.Deadline;
import io.rdmashuffle.transport.PeerIdentity;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the driver's directory about this executor, its slabs and its map outputs. An output is
 * acknowledged together with every slab that may hold a part of it. What cannot be published is
 * read over TCP, so a failure here is logged and never fails a task.
 *
 * <p>Safe for use by several threads.
 */
final class Publisher implements Announcer {
  private static final Logger LOG = LoggerFactory.getLogger(Publisher.class);

  /** After this many failures that were logged, the rest is only counted. */
  private static final int MAX_LOGGED = 20;

  private final DirectoryClient directory;
  private final List<SlabPool> pools;
  private final Duration timeout;
  private final LongAdder failures = new LongAdder();

  /** How many slabs of each pool, in order of creation, the driver has acknowledged. */
  private final AtomicIntegerArray slabsKnown;

  /** Set once, before any output is published. */
  private volatile ExecutorRecord executor;

  private volatile boolean isRegistered;

  /**
   * @param pools whose slabs hold what is published
   */
  Publisher(DirectoryClient directory, List<SlabPool> pools, Duration timeout) {
    this.directory = directory;
    this.pools = pools;
    slabsKnown = new AtomicIntegerArray(pools.size());
    this.timeout = timeout;
  }

  /**
   * Lists the executor; without that nobody reads from it one-sided. When the driver does not
   * answer in time, it is tried again with each output.
   */
  void register(PeerIdentity self, String host, Map<String, byte[]> endpoints) {
    executor = new ExecutorRecord(self.executorId(), host, self.token(), endpoints, List.of());
    ensureRegistered(Deadline.after(timeout));
  }

  private boolean ensureRegistered(Deadline deadline) {
    if (!isRegistered) {
      isRegistered =
          attempt("this executor", () -> directory.register(executor, deadline)) == Outcome.DONE;
    }
    return isRegistered;
  }

  @Override
  public boolean publish(int shuffleId, long mapTaskId, IndexLocation location) {
    return publish(
        new OutputRecord(
            shuffleId,
            mapTaskId,
            location.slabId(),
            location.offset(),
            location.length(),
            location.generation()));
  }

  @Override
  public boolean publishInFiles(int shuffleId, long mapTaskId) {
    return publish(OutputRecord.inFiles(shuffleId, mapTaskId));
  }

  private boolean publish(OutputRecord record) {
    Deadline deadline = Deadline.after(timeout);
    if (!ensureRegistered(deadline)) {
      return true;
    }
    int[] slabCounts = new int[pools.size()];
    List<SlabRecord> added = new ArrayList<>();
    for (int i = 0; i < slabCounts.length; i++) {
      List<SlabDescriptor> slabs = pools.get(i).slabTable().slabs();
      slabCounts[i] = slabs.size();
      slabs.stream().skip(slabsKnown.get(i)).map(SlabRecord::of).forEach(added::add);
    }
    Outcome outcome =
        attempt(
            "map output " + record.mapTaskId() + " of shuffle " + record.shuffleId(),
            () -> directory.publish(record, added, deadline));
    if (outcome == Outcome.DONE) {
      for (int i = 0; i < slabCounts.length; i++) {
        slabsKnown.accumulateAndGet(i, slabCounts[i], Math::max);
      }
    }
    return outcome != Outcome.NOT_WANTED;
  }

  private interface Call {
    void run() throws DirectoryException, InterruptedException;
  }

  private enum Outcome {
    DONE,
    FAILED,
    NOT_WANTED
  }

  private Outcome attempt(String what, Call call) {
    try {
      call.run();
      return Outcome.DONE;
    } catch (DirectoryException e) {
      if (e.reason() == DirectoryException.Reason.DROPPED) {
        LOG.debug("{} came too late: {}", what, e.getMessage());
        return Outcome.NOT_WANTED;
      }
      failures.increment();
      if (failures.sum() <= MAX_LOGGED) {
        LOG.warn("{} is not published and will be read over TCP: {}", what, e.getMessage());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return Outcome.FAILED;
  }
}
