package io.rdmashuffle.spark.directory;

import io.rdmashuffle.spark.directory.DirectoryException.Reason;
import io.rdmashuffle.spark.directory.LocatePage.ExecutorMention;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The driver's directory: executors with their slabs, and per shuffle a log of where map outputs
 * lie. It knows nothing of Spark; the driver feeds it with shuffles and lost executors.
 *
 * <p>Thread-safe and bounded by its {@link DirectoryLimits}; what would exceed one is refused with
 * {@link Reason#REFUSED} and a text that names the limit. Publishing and locating do not wait for
 * each other.
 *
 * <p>A map output that is published again is a new entry, and readers let the later one win.
 * Entries of a removed executor are skipped by every later locate.
 *
 * <p>A removed executor may not come back with the token it had. Spark never gives an executor id
 * to a second process of an application, so that is a message of a process that Spark has given up
 * and whose outputs it computes again: listing it would only send readers to memory that is about
 * to vanish. With another token it is another process, and welcome.
 */
public final class Directory {
  // Indexes are handed out once, and page building walks them all.
  private static final int MAX_EXECUTORS_EVER = 1 << 20;
  private static final int MAX_REMEMBERED_REMOVALS = 16_384;
  private static final int MAX_REPORTING_EXECUTORS = 65_536;
  private static final int MAX_REMEMBERED_SHUFFLES = 16_384;

  private final DirectoryLimits limits;
  private final HeapBudget budget;
  private final Map<Integer, OutputLog> shuffles = new ConcurrentHashMap<>();
  private final Map<String, Entry> executors = new ConcurrentHashMap<>();

  /** Live executors by index, null when removed; replaced when it grows. Written under this. */
  private volatile Entry[] byIndex = {};

  /** Grows after every change of the executors. Written under this. */
  private volatile long epoch;

  private int nextIndex; // guarded by this
  private final Map<String, byte[]> removedTokens = new LinkedHashMap<>(); // guarded by this
  private final Set<Integer> droppedShuffles = new LinkedHashSet<>(); // guarded by itself
  private final CounterTotals totals; // guarded by itself

  /** An executor while it is registered. */
  private static final class Entry {
    final int index;
    volatile PeerRecord peer;

    Entry(int index, PeerRecord peer) {
      this.index = index;
      this.peer = peer;
    }
  }

  public Directory(DirectoryLimits limits) {
    this.limits = limits;
    this.budget = new HeapBudget(limits.maxTotalBytes());
    this.totals = new CounterTotals(MAX_REPORTING_EXECUTORS, Bounds.MAX_COUNTERS);
  }

  /**
   * Lists an executor. Repeating it with the same token is harmless: slabs that are new are added.
   *
   * @throws DirectoryException when the executor was removed, another process holds its id, or a
   *     limit is reached
   */
  public synchronized void register(ExecutorRecord executor) throws DirectoryException {
    String id = executor.executorId();
    Entry known = executors.get(id);
    if (known != null) {
      if (!executor.hasToken(known.peer.executor().token())) {
        throw refused("executor " + id + " is registered by another process");
      }
      mergeSlabs(known, executor.slabs());
      return;
    }
    byte[] removedToken = removedTokens.get(id);
    if (removedToken != null && executor.hasToken(removedToken)) {
      throw refused("executor " + id + " was removed from the application");
    }
    checkLimit("executors", executors.size() + 1, limits.maxExecutors());
    checkLimit("executors ever", nextIndex + 1, MAX_EXECUTORS_EVER);
    checkLimit("slabs of executor " + id, executor.slabs().size(), limits.maxSlabsPerExecutor());
    reserve(executor.heapBytes());
    insert(executor);
  }

  private void insert(ExecutorRecord executor) {
    Entry entry = new Entry(nextIndex++, new PeerRecord(executor, 1));
    Entry[] table = byIndex;
    if (entry.index >= table.length) {
      table = Arrays.copyOf(table, Math.max(16, table.length * 2));
    } else {
      table = table.clone();
    }
    table[entry.index] = entry;
    byIndex = table;
    executors.put(executor.executorId(), entry);
    removedTokens.remove(executor.executorId());
    changed();
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // every caller holds the lock
  private void changed() {
    epoch++;
  }

  /**
   * Adds slabs to a registered executor; those it has already are skipped.
   *
   * @throws DirectoryException when the executor is unknown, a slab differs from the one listed
   *     under its id, or a limit is reached
   */
  public synchronized void addSlabs(String executorId, Collection<SlabRecord> slabs)
      throws DirectoryException {
    mergeSlabs(registered(executorId), slabs);
  }

  private void mergeSlabs(Entry entry, Collection<SlabRecord> slabs) throws DirectoryException {
    ExecutorRecord before = entry.peer.executor();
    Map<Integer, SlabRecord> added = new HashMap<>();
    for (SlabRecord slab : slabs) {
      SlabRecord listed = before.slab(slab.slabId());
      if (listed == null) {
        listed = added.putIfAbsent(slab.slabId(), slab);
      }
      if (listed != null && !listed.equals(slab)) {
        throw refused(
            "slab "
                + slab.slabId()
                + " of executor "
                + before.executorId()
                + " is listed otherwise");
      }
    }
    if (added.isEmpty()) {
      return;
    }
    List<SlabRecord> merged = new ArrayList<>(before.slabs());
    merged.addAll(added.values());
    checkLimit(
        "slabs of executor " + before.executorId(), merged.size(), limits.maxSlabsPerExecutor());
    ExecutorRecord after = before.withSlabs(merged);
    reserve(after.heapBytes() - before.heapBytes());
    entry.peer = new PeerRecord(after, entry.peer.version() + 1);
    changed();
  }

  /** Makes a shuffle known, so that outputs can be published to it. Repeating it is harmless. */
  public void registerShuffle(int shuffleId) throws DirectoryException {
    synchronized (droppedShuffles) {
      droppedShuffles.remove(shuffleId);
    }
    if (!shuffles.containsKey(shuffleId)) {
      checkLimit("shuffles", shuffles.size() + 1, limits.maxShuffles());
      shuffles.putIfAbsent(shuffleId, new OutputLog(budget));
    }
  }

  /**
   * Forgets a shuffle and its outputs. Later publications to it are answered with {@link
   * Reason#DROPPED}, so that what a straggling task wrote does not stay in memory for ever; after
   * many thousand more shuffles they are merely refused.
   */
  public void dropShuffle(int shuffleId) {
    synchronized (droppedShuffles) {
      droppedShuffles.add(shuffleId);
      if (droppedShuffles.size() > MAX_REMEMBERED_SHUFFLES) {
        droppedShuffles.remove(droppedShuffles.iterator().next());
      }
    }
    OutputLog log = shuffles.remove(shuffleId);
    if (log != null) {
      log.drop();
    }
  }

  /** Those of the shuffles that were dropped, as far as it is remembered. */
  List<Integer> droppedOf(Collection<Integer> shuffleIds) {
    synchronized (droppedShuffles) {
      return shuffleIds.stream().filter(droppedShuffles::contains).toList();
    }
  }

  /**
   * Lists an output. When this returns, every later {@link #locate} from an earlier position sees
   * it.
   *
   * @throws DirectoryException when executor, slab or shuffle are unknown, the index block does not
   *     lie within the slab, or a limit is reached
   */
  public void publish(String executorId, OutputRecord output) throws DirectoryException {
    Entry entry = registered(executorId);
    checkPlace(entry.peer, output);
    OutputLog log = shuffles.get(output.shuffleId());
    OutputLog.Appended appended =
        log == null
            ? OutputLog.Appended.DROPPED
            : log.append(entry.index, output, limits.maxOutputsPerShuffle());
    switch (appended) {
      case YES -> {}
      case DROPPED -> throw notRegistered(output.shuffleId());
      case FULL ->
          throw refused(
              "outputs of shuffle " + output.shuffleId() + " > " + limits.maxOutputsPerShuffle());
      case OVER_BUDGET -> throw overBudget();
    }
  }

  private static void checkPlace(PeerRecord peer, OutputRecord output) throws DirectoryException {
    if (output.isInFiles()) {
      return;
    }
    SlabRecord slab = peer.slab(output.slabId());
    if (slab == null) {
      throw refused(
          "slab " + output.slabId() + " of executor " + peer.executorId() + " is not listed");
    }
    if (output.offset() > slab.length() - output.indexLength()) {
      throw refused(
          "index block at offset="
              + output.offset()
              + " indexLength="
              + output.indexLength()
              + " exceeds slabLength="
              + slab.length());
    }
  }

  /**
   * What the pages of a shuffle depend on. While it stays equal, so do they.
   *
   * @param log compared by identity, since an id could be registered anew
   */
  record Stamp(OutputLog log, long epoch, int size) {}

  /** The stamp of a shuffle as of now; empty when the shuffle is not registered. */
  Optional<Stamp> stamp(int shuffleId) {
    OutputLog log = shuffles.get(shuffleId);
    return log == null ? Optional.empty() : Optional.of(new Stamp(log, epoch, log.size()));
  }

  /**
   * The outputs of live executors from a position on, at most the page limit.
   *
   * @param fromPosition 0, or the next position of the page before
   * @return empty when the shuffle is not registered
   * @throws DirectoryException when the position lies beyond the log
   */
  Optional<LocatePage> locate(int shuffleId, int fromPosition) throws DirectoryException {
    OutputLog log = shuffles.get(shuffleId);
    if (log == null) {
      return Optional.empty();
    }
    int end = log.size();
    long[][] chunks = log.chunks();
    if (chunks.length == 0 && end > 0) {
      return Optional.empty(); // dropped between the two reads
    }
    if (fromPosition < 0 || fromPosition > end) {
      throw refused(
          "position=" + fromPosition + " of shuffle " + shuffleId + " is not within 0 to " + end);
    }
    return Optional.of(new PageBuilder(byIndex, limits).build(chunks, fromPosition, end));
  }

  /** Copies entries and numbers the executors they name. */
  private static final class PageBuilder {
    private final Entry[] byIndex;
    private final DirectoryLimits limits;
    private final int[] placePlusOne;
    private final List<ExecutorMention> mentions = new ArrayList<>();

    PageBuilder(Entry[] byIndex, DirectoryLimits limits) {
      this.byIndex = byIndex;
      this.limits = limits;
      this.placePlusOne = new int[byIndex.length];
    }

    LocatePage build(long[][] chunks, int from, int end) {
      int capacity = Math.min(end - from, limits.maxPageEntries());
      long[] words = new long[capacity * OutputLog.WORDS];
      int count = 0;
      int position = from;
      for (; position < end && count < capacity; position++) {
        long[] chunk = OutputLog.chunkOf(chunks, position);
        int word = OutputLog.wordOf(position);
        long packed = chunk[word + OutputLog.EXECUTOR_AND_SLAB];
        int place = place(OutputLog.upper(packed));
        if (place >= 0) {
          int target = count++ * OutputLog.WORDS;
          System.arraycopy(chunk, word, words, target, OutputLog.WORDS);
          words[target + OutputLog.EXECUTOR_AND_SLAB] =
              OutputLog.pack(place, OutputLog.lower(packed));
        }
      }
      return new LocatePage(words, count, position, position < end, mentions);
    }

    // An index beyond the table belongs to an executor that registered after the table was read;
    // the table is read after the log, so there is none.
    private int place(int index) {
      Entry entry = byIndex[index];
      if (entry == null) {
        return -1;
      }
      if (placePlusOne[index] == 0) {
        PeerRecord peer = entry.peer;
        mentions.add(new ExecutorMention(index, peer.executorId(), peer.version()));
        placePlusOne[index] = mentions.size();
      }
      return placePlusOne[index] - 1;
    }
  }

  /** What is known of an executor; empty when it never registered or was removed. */
  public Optional<PeerRecord> peer(String executorId) {
    return Optional.ofNullable(executors.get(executorId)).map(entry -> entry.peer);
  }

  /** Forgets an executor; its outputs are skipped from now on. Unknown ids are ignored. */
  public synchronized void removeExecutor(String executorId) {
    Entry entry = executors.remove(executorId);
    if (entry == null) {
      return;
    }
    Entry[] table = byIndex.clone();
    table[entry.index] = null;
    byIndex = table;
    changed();
    ExecutorRecord executor = entry.peer.executor();
    budget.release(executor.heapBytes());
    removedTokens.put(executorId, executor.token());
    if (removedTokens.size() > MAX_REMEMBERED_REMOVALS) {
      removedTokens.remove(removedTokens.keySet().iterator().next());
    }
  }

  /**
   * Keeps the cumulative counters of an executor, registered or not, unless a later report came
   * first.
   *
   * @param sequence grows with every report of the executor
   */
  public void report(String executorId, long sequence, Map<String, Long> counters) {
    synchronized (totals) {
      totals.report(executorId, sequence, counters);
    }
  }

  /** Sums of the latest counters of all executors, lost ones included; sorted by name. */
  public Map<String, Long> totals() {
    synchronized (totals) {
      return new TreeMap<>(totals.totals());
    }
  }

  /** Ids of the registered executors. */
  public Collection<String> executorIds() {
    return List.copyOf(executors.keySet());
  }

  /** Estimated bytes of heap in use. */
  public long usedBytes() {
    return budget.usedBytes();
  }

  private Entry registered(String executorId) throws DirectoryException {
    Entry entry = executors.get(executorId);
    if (entry == null) {
      throw refused("executor " + executorId + " is not registered");
    }
    return entry;
  }

  private void reserve(long bytes) throws DirectoryException {
    if (!budget.tryReserve(bytes)) {
      throw overBudget();
    }
  }

  private DirectoryException overBudget() {
    return refused("the directory's maxTotalBytes=" + budget.limitBytes() + " is spent");
  }

  private static void checkLimit(String what, int value, int limit) throws DirectoryException {
    if (value > limit) {
      throw refused(what + "=" + value + " > " + limit);
    }
  }

  private DirectoryException notRegistered(int shuffleId) {
    return !droppedOf(List.of(shuffleId)).isEmpty()
        ? new DirectoryException(Reason.DROPPED, "shuffle " + shuffleId + " was dropped")
        : refused("shuffle " + shuffleId + " is not registered");
  }

  private static DirectoryException refused(String text) {
    return new DirectoryException(Reason.REFUSED, text);
  }
}
